"""Draws the pictures of the guides from what sash itself says: windows, slices and the state of algorithms."""
