"""Choosing between solvers, parameters and kernels."""
