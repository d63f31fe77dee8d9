"""Machines that learn one row at a time: perceptrons and Pegasos."""
