"""From decision values to probabilities."""
