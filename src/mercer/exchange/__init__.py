"""Models to and from files: Mercer's own, and those of other programs."""
