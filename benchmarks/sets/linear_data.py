"""Data of the race of linear machines: text as tf-idf in CSR, categories, pixels, and made sets.

Sets of the data folder are loaded as `benchmarks.sets.data` does; all rows train, since fits are what is timed.
"""

import json
import lzma
from functools import cache

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.preprocessing import StandardScaler, normalize

from benchmarks.sets.data import data_folder, load

BUNDLED = ("iris", "breast_cancer", "digits", "made_rows", "made_text")
FILES = ("a9a", "w8a", "ijcnn1", "mnist2", "mnist10", "money_fx", "reuters", "news2", "news20", "movies")
LINEAR_SETS = BUNDLED if data_folder() is None else (*BUNDLED, *FILES)


@cache
def linear_data(name):
    """(X, y) of the set of this name; `made_rows:N` and `made_text:N` make N rows."""
    base, _, rows = name.partition(":")
    makers = {"made_rows": made_rows, "made_text": made_text}
    if base in makers:
        return makers[base](int(rows)) if rows else makers[base]()
    if base in ("news2", "news20", "movies", "money_fx", "reuters"):
        return {"movies": _movies, "money_fx": _money_fx, "reuters": _reuters}.get(base, lambda: _news(base))()
    if base in BUNDLED:
        X, y = getattr(datasets, f"load_{base}")(return_X_y=True)
        return StandardScaler().fit_transform(X), y
    data = load(name)
    return data.X, data.y


def _texts(*path):
    with lzma.open(data_folder().joinpath("text", *path), "rt", encoding="utf8") as file:
        return [json.loads(line) for line in file]


def _news(name):
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = [row for row in _texts("20newsgroups_bydate.jsonl.xz") if row["split"] == "train"]
    X = TfidfVectorizer(sublinear_tf=True).fit_transform([row["text"] for row in rows])
    codes = np.unique([row["group"] for row in rows], return_inverse=True)[1]
    return _narrow(X), (codes < 10).astype(int) if name == "news2" else codes


def _movies():
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = _texts("movie_reviews.jsonl.xz")
    X = TfidfVectorizer(ngram_range=(1, 2)).fit_transform([row["text"] for row in rows])
    return _narrow(X), np.unique([row["label"] for row in rows], return_inverse=True)[1]


def _reuters():
    """All stories of Reuters-21578: those on earnings against the rest."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = _texts("reuters21578.jsonl.xz")
    X = TfidfVectorizer(sublinear_tf=True).fit_transform([f"{row['title']}\n{row['body']}" for row in rows])
    return _narrow(X), np.array([int("earn" in row["topics"]) for row in rows])


def _money_fx():
    path = data_folder() / "sparse" / "reuters_moneyfx_lasvm.svm.gz"
    X, y = datasets.load_svmlight_file(str(path), n_features=8315)
    return _narrow(X), y


def _narrow(X):
    """32-bit indices, which scikit-learn's LinearSVC insists on."""
    X = sparse.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def made_text(n=100_000, d=47_000, words=60, seed=0):
    """Rows of a few dozen words drawn by rank, a noisy linear rule: like Reuters in size and sparsity."""
    rng = np.random.default_rng(seed)
    indices = np.minimum((d * rng.random((n, words)) ** 3).astype(np.int32), d - 1)
    values = rng.random((n, words)) + 0.2
    X = sparse.csr_matrix((values.ravel(), indices.ravel(), np.arange(0, n * words + 1, words)), shape=(n, d))
    X.sum_duplicates()
    X = normalize(X)
    score = X @ rng.normal(size=d)
    return _narrow(X), (score + 0.3 * score.std() * rng.normal(size=n) > 0).astype(int)


def made_rows(n=500_000, seed=0):
    """Ten numbers and forty-four indicators, a noisy linear rule, in float32."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 54)).astype(np.float32)
    X[:, 10:] = X[:, 10:] > 1.2
    score = X[:, :10] @ rng.normal(size=10) + X[:, 10:] @ rng.normal(size=44)
    return X, (score + 2 * rng.normal(size=n) > 0).astype(int)
