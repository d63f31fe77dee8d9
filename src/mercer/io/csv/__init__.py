"""Comma-separated values, and those separated by anything else."""
