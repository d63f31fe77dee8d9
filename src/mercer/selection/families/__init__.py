"""Families of kernels that a search may choose from, by what the data are."""
