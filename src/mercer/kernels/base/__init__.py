"""The base classes of kernels, their parameters, and the function that a fit produces."""
