"""What running and stopped queries have done: progress, why, state and a listener."""
