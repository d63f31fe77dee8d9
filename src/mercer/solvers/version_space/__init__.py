"""Centres of the version space, and walks within it."""
