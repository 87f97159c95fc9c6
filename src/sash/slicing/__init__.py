"""HOW many windows share work: rows are cut into slices, and a window is a run of neighbouring slices."""
