"""Kernels of texts, trees, graphs, nodes and records: how fast they are, and how often they err."""
