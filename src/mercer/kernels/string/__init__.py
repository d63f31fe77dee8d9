"""Kernels of texts and other sequences of symbols, one file each."""
