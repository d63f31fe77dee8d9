"""Estimators in scikit-learn's manner: they check input, choose, and hold no arithmetic."""
