"""The hyperplanes that separate the data, and points among them."""
