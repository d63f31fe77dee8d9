"""One Display class a file."""
