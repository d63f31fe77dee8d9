"""Kernels made from other kernels: sums, products, powers, normalised and centred ones."""
