"""HOW each kind of window behaves: one module per kind, one catalog."""
