"""Textbook methods, kept to compare with and to teach."""
