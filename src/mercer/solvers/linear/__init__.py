"""Linear models by dual coordinate descent and Newton's method."""
