"""Findings of the papers, each checked against the measured records."""
