"""The hyperplanes that separate the data, and points within them."""
