"""The classes that a model file may name."""
