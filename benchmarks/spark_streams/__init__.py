"""Benchmarks of windows over Spark streams, by sash and by native Structured Streaming, on the same files."""
