"""Kernels of rows of numbers, one a file."""
