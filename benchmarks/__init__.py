"""How fast, how steady, how large: the papers' experiments and the peers, as records of a report."""
