"""Benchmarks of sash: speed, latency and memory beside other libraries, other techniques and native Spark."""
