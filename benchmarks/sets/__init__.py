"""Data of the races: found in the data folder, or made."""
