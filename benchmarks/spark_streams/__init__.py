"""Windows of streaming DataFrames, by sash and by Structured Streaming itself, on the same files in the same run."""
