"""Sparse rows in the format of SVMlight and LIBSVM."""
