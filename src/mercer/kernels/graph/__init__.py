"""Kernels of graphs: each graph is an item. Kernels of the nodes of one graph are in `node`."""
