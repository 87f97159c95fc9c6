"""OVER WHAT: windows as frozen descriptions."""
