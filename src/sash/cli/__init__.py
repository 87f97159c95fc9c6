"""The command `sash`: parse, call, print."""
