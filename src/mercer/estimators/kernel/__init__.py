"""Kernel methods beside the support vector machine: regression, components, density."""
