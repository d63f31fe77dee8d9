"""Losses with their conjugates, of margins and of residuals."""
