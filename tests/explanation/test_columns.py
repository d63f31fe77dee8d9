"""What columns add under kernels that multiply over them: Shapley values, compared with their definition."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelRidge, OneClassSVM, explain
from mercer.kernels import RBF, ChiSquared, Laplacian, Linear, Matern

rng = np.random.default_rng(0)
X = rng.uniform(0.1, 2.0, size=(30, 4))
y = (X[:, 0] + X[:, 1] ** 2 > 2).astype(int)
ITEM = np.array([0.5, 1.5, 1.0, 0.2])


def by_definition(factors, coefficients):
    """The mean over all orders, set by set: 2^d of them."""
    d = factors.shape[1]
    worth = {
        subset: coefficients @ factors[:, list(subset)].prod(axis=1)
        for size in range(d + 1)
        for subset in combinations(range(d), size)
    }
    values = np.zeros(d)
    for subset, value in worth.items():
        for i in set(range(d)) - set(subset):
            weight = factorial(len(subset)) * factorial(d - len(subset) - 1) / factorial(d)
            values[i] += weight * (worth[tuple(sorted({*subset, i}))] - value)
    return values


FACTORS = {
    "rbf": (RBF(0.7), lambda x, V: np.exp(-0.7 * (x - V) ** 2)),
    "laplacian": (Laplacian(0.5), lambda x, V: np.exp(-0.5 * np.abs(x - V))),
    "chi2": (ChiSquared(0.5), lambda x, V: np.exp(-0.5 * (x - V) ** 2 / (x + V))),
    "product": (
        RBF(0.3) * Laplacian(0.5) ** 2,
        lambda x, V: np.exp(-0.3 * (x - V) ** 2 - 1.0 * np.abs(x - V)),
    ),
    "normalized": (RBF(0.7).normalized(), lambda x, V: np.exp(-0.7 * (x - V) ** 2)),
}


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("columns", [4, 3])
def test_columns_have_their_shapley_values(name, columns):
    kernel, factors = FACTORS[name]
    model = SVC(kernel=kernel, C=5.0).fit(X[:, :columns], y)
    expected = by_definition(factors(ITEM[:columns], X[model.support_, :columns]), model.dual_coef_[0])
    found = explain(model, ITEM[:columns])
    assert found.by_column.names == [f"x{k}" for k in range(columns)]
    np.testing.assert_allclose(found.by_column.values[0], expected, rtol=1e-9, atol=1e-12)
    assert found.main is found.by_column


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel=RBF(0.7)),
        SVC(kernel="2*rbf(gamma=0.3) + 0.5*linear + 1"),
        KernelRidge(kernel=RBF(0.7)),
        OneClassSVM(kernel=RBF(0.7)),
        SVC(kernel=RBF(0.7), bias="none"),
        SVC(kernel=RBF(0.7), decision_function_shape="ovo"),
    ],
)
def test_columns_add_up_to_the_decision_value(model):
    labels = np.arange(30) % 3 if getattr(model, "decision_function_shape", "") == "ovo" else y
    found = explain(model.fit(X, labels), ITEM)
    np.testing.assert_allclose(found.by_column.values.sum(axis=1) + found.intercept, found.decision, atol=1e-8)


def test_what_any_row_gets_is_told_where_it_is_something():
    assert "any row" not in explain(SVC(kernel=RBF(0.7)).fit(X, y), ITEM).by_column.names
    model = OneClassSVM(kernel=RBF(0.7)).fit(X)
    assert explain(model, ITEM).by_column.as_dict()["any row"] == pytest.approx(model.dual_coef_.sum())


def test_columns_of_a_frame_go_by_their_names_also_behind_a_scaler():
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd"))
    model = SVC(C=10.0).fit(frame, y)
    assert str(explain(model, frame.iloc[[3]])).splitlines()[1].split()[0] in "abcd"
    piped = explain(make_pipeline(StandardScaler(), OneClassSVM()).fit(frame), frame.iloc[[3]])
    assert piped.by_column.names == ["a", "b", "c", "d", "any row"]


def test_a_column_that_does_not_vary_adds_nothing():
    rows = np.column_stack([X, np.full(30, 7.0)])
    found = explain(SVC(kernel=RBF(0.7)).fit(rows, y), [*ITEM, 7.0])
    assert found.by_column.values[0, 4] == 0.0


@pytest.mark.parametrize("kernel", [Linear(), Matern(), RBF(1.0) + Matern()])
def test_other_kernels_are_not_divided_so(kernel):
    assert explain(SVC(kernel=kernel).fit(X, y), ITEM).by_column is None


def test_hundreds_of_columns_still_add_up():
    rows = rng.normal(size=(40, 300))
    model = SVC(kernel=RBF(0.01)).fit(rows, rows[:, 0] > 0)
    found = explain(model, rows[0])
    assert found.by_column.values.sum() + found.intercept[0] == pytest.approx(found.decision[0], abs=1e-9)
