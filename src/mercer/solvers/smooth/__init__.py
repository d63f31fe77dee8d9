"""Newton's method for smooth losses in a feature space."""
