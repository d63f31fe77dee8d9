"""Kernels of the rows of a table, column by column."""
