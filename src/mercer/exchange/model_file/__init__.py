"""Mercer's own model file: data only, checked before anything is built from it."""
