"""What sash is compared with: other techniques to aggregate windows, and other libraries."""
