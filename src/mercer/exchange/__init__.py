"""Models in files: Mercer's own format, and those of other programs."""
