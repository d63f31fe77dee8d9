"""Kernels of labelled, ordered trees, one file each."""
