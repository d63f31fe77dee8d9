"""Kernel methods with a smooth loss or none: ridge, logistic, density, components."""
