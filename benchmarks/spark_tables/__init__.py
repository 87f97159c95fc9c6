"""Windows and frames of Spark's DataFrames, by sash and by Spark itself, on the same rows in the same run."""
