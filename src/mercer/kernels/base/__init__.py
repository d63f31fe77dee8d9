"""What a kernel is, what it takes, and the function that a fit leaves behind."""
