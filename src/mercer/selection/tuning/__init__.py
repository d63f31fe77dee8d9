"""The search for parameters by cross-validation."""
