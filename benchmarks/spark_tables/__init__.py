"""Benchmarks of windows and frames over Spark tables, by sash and by native Spark, on the same rows."""
