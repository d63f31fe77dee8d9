"""The hard margin as the nearest points of two hulls, or the proof that there is none."""
