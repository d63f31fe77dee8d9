"""Kernels made of kernels: sums, products, powers, normalised and centred ones."""
