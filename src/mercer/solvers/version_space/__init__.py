"""Centres of the version space, and random walks in it."""
