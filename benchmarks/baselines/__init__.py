"""The ways to aggregate windows that general stream slicing is compared with, each answering the same queries."""
