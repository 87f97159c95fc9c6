"""Code of Spark's Python tasks."""
