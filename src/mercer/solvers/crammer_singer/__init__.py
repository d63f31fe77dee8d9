"""The classifier of Crammer and Singer (2001)."""
