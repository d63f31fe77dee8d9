"""The races that `python -m benchmarks.race` runs by name."""
