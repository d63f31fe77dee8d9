"""Data to search on, and the scores that a search leaves behind."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler


def scaled(load, rows=None):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X)[:rows], y[:rows]


def scores_of(search, n_folds=5):
    return np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(n_folds)], axis=1)


def oversampled():
    """Rows of two classes, and a fold that learns from those of the rare one nine times."""
    X, y = make_classification(600, 5, n_informative=3, weights=[0.9], flip_y=0.1, class_sep=0.5, random_state=0)
    rows = np.arange(400)
    train = np.concatenate([rows, np.tile(rows[y[:400] == 1], 8)])
    return X, y, [(train, np.arange(400, 600))]
