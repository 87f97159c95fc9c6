"""HOW one window slides."""
