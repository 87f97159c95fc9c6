"""Monitor running and stopped queries: progress, why, state and a listener."""
