"""WHAT is computed: aggregates, their laws, and what makes them compile."""
