"""Benchmarks of streams with many windows: the experiments of general stream slicing, beside other techniques."""
