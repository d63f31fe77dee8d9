"""What the classes of a file must hold before anything is made of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.estimators.fitting.certificate import Evidence
from mercer.exchange.model_file.known.kernels import _GRAPH_PARTS, LARGEST_SIZE, _check_fields, _make_graph
from mercer.exchange.model_file.known.transformers import _check_columns, _require_step
from mercer.exchange.model_file.known.values import _evidence_of_one
from mercer.exchange.model_file.rules import Refused
from mercer.kernels.graph.graph import Graph


def test_a_step_is_known_or_a_word_that_stands_for_none():
    for step in (None, "passthrough", "drop", StandardScaler()):
        _require_step(step, "transform")
    for step in ("hope", object(), 3):
        with pytest.raises(Refused, match="must have steps that can transform"):
            _require_step(step, "transform")
    with pytest.raises(Refused, match="must have steps that can transform"):
        _require_step(mercer.SVC(), "transform")
    _require_step(mercer.SVC(), None)


def test_each_part_of_a_table_has_a_name_a_transformer_and_columns():
    whole = ColumnTransformer([("a", StandardScaler(), [0])]).fit(np.eye(3))
    _check_columns(whole)
    for parts in ([("a", StandardScaler())], [(1, StandardScaler(), [0])], [("a", object(), [0])]):
        whole.transformers_ = parts
        with pytest.raises(Refused, match="must have"):
            _check_columns(whole)


def test_sizes_of_a_kernel_are_bounded_and_seeds_are_not():
    _check_fields(SimpleNamespace(random_state=2**40, length=LARGEST_SIZE, degrees=(2, -LARGEST_SIZE)))
    for fields in ({"length": LARGEST_SIZE + 1}, {"degrees": (2, -LARGEST_SIZE - 1)}):
        with pytest.raises(Refused, match="of at most"):
            _check_fields(SimpleNamespace(**fields))


def test_every_edge_of_a_graph_has_a_positive_weight():
    fields = dict.fromkeys(_GRAPH_PARTS) | {"nodes": range(3), "ends": np.array([[0, 1], [1, 2]]), "directed": False}
    assert _make_graph(Graph, {**fields, "weights": np.array([1.0, 2.0])}).nodes == range(3)
    for weights in ([1.0, -2.0], [0.0, 1.0], [-1.0, -1.0]):
        with pytest.raises(Refused, match="must have positive weights"):
            _make_graph(Graph, {**fields, "weights": np.array(weights)})


def test_the_evidence_of_an_earlier_version_is_its_one_certificate():
    for found, kept in ((None, None), ("certificate", ["certificate"])):
        evidence = _evidence_of_one(Evidence, {"_found": found})
        assert (evidence._found, evidence.certifier, evidence.data) == (kept, None, None)
