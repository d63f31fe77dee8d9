"""Prediction sets and intervals that cover the truth as often as they are asked to."""
