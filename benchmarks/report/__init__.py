"""One page of all that was measured: what papers found beside what was found here, other libraries, Spark, promises."""
