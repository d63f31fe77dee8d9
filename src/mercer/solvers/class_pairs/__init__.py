"""The two-class problems of several classes, solved together."""
