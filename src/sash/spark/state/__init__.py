"""The state of streams: the processor, the snapshot and the log, and buckets."""
