"""Kernel matrices and functions supplied by the user."""
