"""Kernels as text: scikit-learn's names, and expressions to parse and to print."""
