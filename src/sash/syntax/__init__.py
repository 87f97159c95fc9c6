"""The grammar of query text: tokens, syntax trees, and expressions that are computed from one row."""
