"""What estimators inherit: parameters, fitted attributes and predictions that they share."""
