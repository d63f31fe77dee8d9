"""The same function with fewer support vectors."""
