"""scikit-learn's data sets, with features of one size, loaded once."""

from functools import cache

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

_LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
NAMES = (*_LOADERS, "digits")


@cache
def scaled(name):
    """Rows and labels of a data set; the digits, on a grid of zeros, are divided by 16."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:900] / 16.0, y[:900]
    X, y = _LOADERS[name](return_X_y=True)
    return StandardScaler().fit_transform(X), y


def two_classes(name):
    """The rows of the last two classes of a data set."""
    X, y = scaled(name)
    chosen = y >= y.max() - 1
    return X[chosen], y[chosen]
