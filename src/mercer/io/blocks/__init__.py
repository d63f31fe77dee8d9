"""Data of any size as blocks of rows, each of which can be read separately and repeatedly."""
