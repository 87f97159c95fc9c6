"""Benchmarks of the algorithms that slide one window."""
