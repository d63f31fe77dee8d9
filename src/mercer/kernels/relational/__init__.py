"""Kernels of the rows of a database, with the rows they are linked to."""
