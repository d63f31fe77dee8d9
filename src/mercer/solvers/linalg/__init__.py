"""Linear algebra that the solvers share."""
