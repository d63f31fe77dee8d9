"""Makes the model files of one version of the format; run once for each version, never again.

``python -m tests.exchange.model_file.make_fixtures`` writes `fixtures/v1_*.mercer`, and what the models say of some
points beside each as JSON. Files of older versions are kept for ever: every later Mercer must load them.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mercer
from mercer import SVC, Graph, KernelRidge, LinearSVC, OneClassSVM, PegasosSVC, Tree
from mercer import kernels as k
from mercer.exchange.model_file.container import VERSION

FOLDER = Path(__file__).parent / "fixtures"
rng = np.random.default_rng(11)
X = rng.normal(size=(30, 3)).round(2)
Y = np.array(["ash", "beech", "cedar"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
TEXTS = ["gattaca", "tacagat", "catgac", "actg", "ttagga", "gagaga"]
TREES = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(S (VP b))", "(S (NP d (VP b)))"]
EDGES = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)], [(0, 1)], [(0, 1), (0, 2), (0, 3)]]


def graphs(edges):
    return [Graph([tuple(pair) for pair in each], node_labels=list("abca")[: 1 + np.max(each)]) for each in edges]


def table(rows):
    return np.array(rows, dtype=object)


def models():
    """The models, their questions as JSON, and the name of the reader that turns these into items."""
    rows, mixed = X[:8].tolist(), [[float(a), word] for a, word in zip(X[:30, 0], Y, strict=True)]
    columns = ColumnTransformer(
        [("n", make_pipeline(SimpleImputer(), StandardScaler()), [0]), ("w", OneHotEncoder(), [1])]
    )
    sides = [0, 1, 0, 1]
    return {
        "svc": (SVC(probability=True, C=5.0).fit(X, Y), rows, "array", "predict_proba"),
        "linear": (LinearSVC().fit(X, Y), rows, "array", "decision_function"),
        "algebra": (SVC(kernel=k.RBF(gamma=0.3).normalized() + 0.5 * k.Polynomial(degree=2)).fit(X, Y), rows, "array",
                    "decision_function"),
        "ridge": (KernelRidge(kernel="laplacian", gamma=0.2).fit(X, X[:, 0] ** 2), rows, "array", "predict"),
        "one_class": (OneClassSVM(nu=0.3).fit(X), rows, "array", "score_samples"),
        "pegasos": (PegasosSVC(T=200).fit(X, Y), rows, "array", "decision_function"),
        "texts": (SVC(kernel=k.Subsequence(2)).fit(TEXTS, [0, 1] * 3), TEXTS, "list", "decision_function"),
        "trees": (SVC(kernel=k.SubsetTree()).fit(READERS["trees"](TREES), sides), TREES, "trees", "decision_function"),
        "graphs": (SVC(kernel=k.WeisfeilerLehman(2)).fit(graphs(EDGES), sides), EDGES, "graphs", "decision_function"),
        "pipeline": (make_pipeline(columns, SVC()).fit(table(mixed), Y), mixed[:8], "table", "decision_function"),
    }  # fmt: skip


READERS = {
    "array": np.array,
    "list": list,
    "trees": lambda texts: [Tree.parse(text) for text in texts],
    "graphs": graphs,
    "table": table,
}


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, (model, question, reader, method) in models().items():
        path = FOLDER / f"v{VERSION}_{name}.mercer"
        mercer.save(model, path, metadata={"fixture": name})
        answer = getattr(model, method)(READERS[reader](question)).tolist()
        said = {"question": question, "reader": reader, "method": method, "answer": answer}
        path.with_suffix(".json").write_text(json.dumps(said))


if __name__ == "__main__":
    main()
