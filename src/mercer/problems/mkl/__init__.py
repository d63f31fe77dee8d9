"""Problems over the weights of several kernels."""
