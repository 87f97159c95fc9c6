"""One page of all results: findings of the papers, other libraries, native Spark, and the targets of sash."""
