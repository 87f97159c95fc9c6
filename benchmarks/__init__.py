"""Benchmarks of sash: speed, latency and memory beside other libraries, other techniques and native Spark."""

import os

os.environ.setdefault("SASH_COMPILE", "always")  # what is measured is compiled, also on few rows
