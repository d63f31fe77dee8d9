"""The display of an estimator in a notebook, during the fit and after it."""
