"""Kernel matrices as solvers see them: evaluated, stored, packed, weighted sums."""
