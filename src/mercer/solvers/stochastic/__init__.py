"""Pegasos and perceptrons: one row per step."""
