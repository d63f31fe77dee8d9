"""Kernels as text: scikit-learn's names, expressions in and out."""
