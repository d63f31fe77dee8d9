"""Kernels of the nodes of one graph: pages of a web, papers that cite each other."""
