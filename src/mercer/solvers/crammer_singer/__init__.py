"""The machine of Crammer and Singer (2001)."""
