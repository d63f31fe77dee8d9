"""What an estimator shows of itself in a notebook, while it is fitted and after."""
