"""WHAT is computed: aggregates, their laws, and how they compile."""
