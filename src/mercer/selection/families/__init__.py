"""Families of kernels that a search may choose from, depending on the data."""
