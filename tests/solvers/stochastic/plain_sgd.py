"""The algorithm of section 15.5 as it stands in the book, in a few lines of NumPy: w, theta, no tricks."""

import numpy as np


def iterates(X, signs, lam, order, batch_size=1, radius=np.inf):
    """w(1) .. w(T), and w(T + 1)."""
    theta, w = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    found = [w]
    for t in range(1, len(order) // batch_size + 1):
        rows = order[(t - 1) * batch_size : t * batch_size]
        short = [i for i in rows if signs[i] * (X[i] @ w) < 1]
        theta = theta + sum((signs[i] * X[i] for i in short), np.zeros(X.shape[1])) / batch_size
        w = theta / (lam * (t + 1))
        norm = np.linalg.norm(w)
        if norm > radius:
            w, theta = w * radius / norm, theta * radius / norm
        found.append(w)
    return np.array(found)
