"""A search that finds its own way, and the machines that get their kernel from it."""
