"""Whatever can be fitted can be saved: every estimator with every option that leaves something else behind."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import Graph
from mercer import kernels as k
from mercer.exchange.model_file.encode import Writer
from mercer.exchange.model_file.save import describe
from tests.exchange.model_file.test_round_trip import data, fitted, round_trip, target
from tests.exchange.sameness import same, same_answers

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

WITH_KERNELS = "SVC NuSVC SVR NuSVR OneClassSVM SVDD KernelLogisticRegression KernelMachine RampSVC KernelPerceptron"
OPTIONS = {
    **{f"{name}, its kernel chosen": (name, {"kernel": "auto"}) for name in WITH_KERNELS.split()},
    **{f"{name}, its C chosen": (name, {"C": "auto"}) for name in ("SVC", "SVR", "NuSVR")},
    "both chosen": ("SVC", {"C": "auto", "kernel": "auto", "probability": True}),
    "ridge, each row left out": ("KernelRidge", {"leave_one_out": True, "kernel": "rbf"}),
    "ridge, penalty chosen": ("KernelRidge", {"alphas": [0.1, 1.0], "kernel": "rbf"}),
    "ridge, both": ("KernelRidge", {"alphas": [0.1, 1.0], "leave_one_out": True}),
    "ridge by conjugate gradients": ("KernelRidge", {"solver": "cg", "kernel": "rbf"}),
    "components and back": ("KernelPCA", {"fit_inverse_transform": True, "kernel": "rbf", "n_components": 3}),
    "components of one number": ("KernelPCA", {"fit_inverse_transform": True, "n_components": 1}),
    "search over kernels": ("SVCCV", {"kernel": "auto", "Cs": [0.5, 2.0], "cv": 2}),
    "search for regression": ("SVRCV", {"kernel": "auto", "Cs": [0.5, 2.0], "cv": 2}),
    "ties broken": ("SVC", {"break_ties": True, "decision_function_shape": "ovr"}),
    "squared hinge": ("SVC", {"loss": "squared_hinge"}),
    "penalised bias": ("SVC", {"bias": "penalized"}),
    "no bias": ("SVC", {"bias": "none"}),
    "crammer and singer": ("LinearSVC", {"multi_class": "crammer_singer"}),
    "linear hinge": ("LinearSVC", {"loss": "hinge"}),
    "squared tube": ("LinearSVR", {"loss": "squared_epsilon_insensitive", "dual": False}),
    "ranks by hinge": ("RankSVM", {"loss": "hinge"}),
    "voted": ("KernelPerceptron", {"method": "averaged", "max_iter": 5}),
    "program": ("KernelPerceptron", {"method": "lp"}),
    "lp norm": ("MKLClassifier", {"method": "lp-norm", "kernels": [k.RBF(0.1), k.Linear()]}),
    "svd": ("KernelSVD", {"kernel": "rbf", "n_components": 4}),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_what_can_be_fitted_can_be_saved(name, tmp_path):
    estimator, options = OPTIONS[name]
    X, y = data(n=36)
    model = getattr(mercer, estimator)(**options)
    fitted(model, X, target(model, X, y) if is_classifier(model) or not is_outlier_detector(model) else None)
    again = round_trip(model, tmp_path)
    same_answers(model, again, X)
    same(model, again)
    if hasattr(model, "_pre_images"):
        Z = model.transform(X)
        assert np.array_equal(model.inverse_transform(Z), again.inverse_transform(Z))


@pytest.mark.parametrize("is_directed", [False, True])
def test_graphs_of_networkx(is_directed, tmp_path):
    """They are Mercer's own graphs in the file: what a kernel sees of them, and no more."""
    graphs = []
    for place in range(30):
        graph = (nx.DiGraph if is_directed else nx.Graph)()
        graph.add_nodes_from((node, {"label": "ab"[(node + place) % 2]}) for node in range(3 + place % 3))
        graph.add_edges_from((node, node + 1) for node in range(2 + place % 3))
        graphs.append(graph)
    y = np.arange(30) % 2
    model = mercer.SVC(kernel=k.WeisfeilerLehman()).fit(graphs, y)
    again = round_trip(model, tmp_path)
    assert np.array_equal(model.decision_function(graphs), again.decision_function(graphs))
    assert all(isinstance(graph, Graph) for graph in again.support_vectors_)
    few = mercer.SVC(kernel=k.WeisfeilerLehman()).fit(graphs[:4], y[:4])
    assert np.array_equal(few.decision_function(graphs), round_trip(few, tmp_path).decision_function(graphs))


def test_what_a_file_says_of_a_pipeline_is_about_its_last_step(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int)
    model = make_pipeline(StandardScaler(), mercer.SVC()).fit(X, y)
    mercer.save(model, tmp_path / "m.mercer")
    about = describe(tmp_path / "m.mercer")["about"]
    assert (about["class"], about["estimator"], about["status"]) == ("Pipeline", "SVC", "OPTIMAL")
    assert about["classes"] == ["0", "1"]
    assert about["n_features"] == 3


def test_equal_arrays_are_in_a_file_once(tmp_path):
    rows = np.random.default_rng(0).normal(size=(300, 100))
    sizes = []
    for pair in ((rows, rows.copy()), (rows, rows + 1.0)):
        writer = Writer()
        names = [writer.tensor(each) for each in pair]
        sizes.append((len(set(names)), len(writer.arrays)))
    assert sizes == [(1, 1), (2, 2)]


def test_a_file_says_the_names_of_its_columns(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["age", "size"])
    mercer.save(mercer.SVR().fit(table, table["age"]), tmp_path / "m.mercer")
    assert describe(tmp_path / "m.mercer")["about"]["feature_names"] == ["age", "size"]
