"""Every aggregate over every window and frame, for every type of column: time per row, the worst first."""
