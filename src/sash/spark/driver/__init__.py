"""Code of the Spark driver: read columns, refuse, plan, choose a path, and wire DataFrames."""
