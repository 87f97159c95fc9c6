"""HOW many windows share work: rows are cut into slices, and every window is a run of slices."""
