"""Pegasos and perceptrons: one row a step."""
