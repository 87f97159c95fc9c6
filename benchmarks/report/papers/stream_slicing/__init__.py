"""Findings of Traub et al., 2019: comparison with other techniques, and effects of the workload."""
