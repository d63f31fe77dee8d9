"""Kernels for rows of numbers, one per file."""
