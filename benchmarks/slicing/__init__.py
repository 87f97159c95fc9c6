"""Streams of many windows: the experiments of general stream slicing, on sash and on the techniques beside it."""
