"""Solvers: methods, limits and statuses."""
