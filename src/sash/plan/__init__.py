"""WHICH way: queries and a schema in, a frozen plan out; nothing runs here."""
