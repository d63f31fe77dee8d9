"""A search that finds its own way, and the machines that have their kernel from it."""
