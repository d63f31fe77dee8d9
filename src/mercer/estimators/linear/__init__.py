"""Linear machines that never form a kernel matrix."""
