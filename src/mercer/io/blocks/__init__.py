"""Data of any size as blocks of rows, each of which can be read by itself and as often as wanted."""
