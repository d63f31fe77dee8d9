"""Mercer without options against the usual choices, on tables as people have them: `python -m benchmarks.panel`."""
