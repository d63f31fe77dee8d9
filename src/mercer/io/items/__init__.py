"""Objects that are not rows: texts, trees, graphs."""
