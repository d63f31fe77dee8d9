"""One Display class per file."""
