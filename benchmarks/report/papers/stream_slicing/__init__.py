"""What Traub et al. found in 2019: against other techniques, and by what is asked of them."""
