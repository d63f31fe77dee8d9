"""Kernel matrices and functions that the user brings."""
