"""The repr of a kernel: as a person would type it, and read back by Python and by `parse` alike."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import kernels
from mercer.kernels import (
    RBF,
    Centered,
    ChiSquared,
    Columns,
    Constant,
    Custom,
    Cyclic,
    Delta,
    Diffusion,
    Encoded,
    Laplacian,
    Linear,
    Matern,
    Mismatch,
    Normalized,
    On,
    PartialTree,
    Polynomial,
    Power,
    Product,
    Scaled,
    ShortestPath,
    Sigmoid,
    Spectrum,
    Standardized,
    Sum,
    WeisfeilerLehman,
    parse,
)
from mercer.kernels.graph.graph import Graph

NAMES = {**{name: getattr(kernels, name) for name in kernels.__all__}, "inf": math.inf}


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (RBF(0.1) + 2 * Linear(), "RBF(gamma=0.1) + 2 * Linear()"),
        (RBF("scale"), "RBF(gamma='scale')"),
        (RBF(np.float64(0.25)), "RBF(gamma=0.25)"),
        ((Linear() + 1) ** 2, "(Linear() + 1) ** 2"),
        (2 * (Linear() + RBF(1.0)), "2 * (Linear() + RBF(gamma=1.0))"),
        ((Linear() * RBF(1.0)).normalized(), "(Linear() * RBF(gamma=1.0)).normalized()"),
        (Linear().normalized().centered(), "Linear().normalized().centered()"),
        (Spectrum(), "Spectrum()"),
        (Spectrum(length=(1, 2), tokenizer="words"), "Spectrum(length=(1, 2), tokenizer='words')"),
        (On("age", Delta(), missing=0.5), "On('age', Delta(), missing=0.5)"),
        (
            Columns({"age": RBF(1.0), "town": Delta()}, combine="mean"),
            "Columns({'age': RBF(gamma=1.0), 'town': Delta()}, combine='mean')",
        ),
        # Where a sign would make another kernel, it is a call.
        (Scaled(2, Scaled(3, Linear())), "Scaled(2, 3 * Linear())"),
        (Sum((Linear(),)), "Sum((Linear(),))"),
        (Linear() + Constant(0), "Linear() + Constant(value=0)"),
        # What text cannot hold is told in a few words.
        (Custom(np.dot, pairwise=True), "Custom(dot, pairwise=True)"),
        (Centered(Linear(), np.eye(3)), "Centered(Linear(), reference=<3 x 3 ndarray>)"),
        (
            Encoded({"a": "number"}, RBF(1.0)).bind([{"a": 1.0}, {"a": 2.0}]),
            "Encoded({'a': 'number'}, RBF(gamma=1.0), codings=<1 Coding>)",
        ),
        (Diffusion(Graph([(0, 1)]), beta=2.0), "Diffusion(Graph(2 nodes, 1 edge), beta=2.0)"),
    ],
)
def test_a_kernel_is_shown_as_it_is_typed(kernel, text):
    assert repr(kernel) == text


numbers = st.integers(1, 9) | st.floats(1e-6, 1e6) | st.floats(1e-6, 1e6).map(np.float64)
gammas = numbers | st.sampled_from(["scale", "auto", "median"])
column_names = st.text(min_size=1) | st.integers(0, 99)
lengths = st.integers(1, 5) | st.tuples(st.integers(1, 2), st.integers(3, 4))
of_numbers = st.one_of(
    st.builds(RBF, gamma=gammas),
    st.builds(Laplacian, gamma=gammas),
    st.builds(ChiSquared, gamma=gammas),
    st.builds(Sigmoid, gamma=gammas, coef0=st.floats(-5, 5)),
    st.builds(Polynomial, degree=st.integers(1, 5), gamma=gammas, coef0=st.floats(0, 5)),
    st.builds(Matern, nu=st.sampled_from([0.5, 1.5, 2.5, math.inf]), length_scale=numbers),
    st.builds(Cyclic, period=numbers, gamma=numbers),
    st.builds(Constant, st.integers(0, 3) | st.floats(0, 5)),
    st.sampled_from([Linear(), kernels.Cosine(), kernels.SecondOrder(), kernels.RationalQuadratic(alpha=2)]),
)
atoms = st.one_of(
    of_numbers,
    st.builds(Spectrum, length=lengths, tokenizer=st.sampled_from(["words", "characters"])),
    st.builds(Spectrum, length=st.just((1, 2)), weights=st.tuples(numbers, numbers)),
    st.builds(Mismatch, alphabet=st.none() | st.text("acgt\\'\"", min_size=1, max_size=4).map(lambda s: "".join({*s}))),
    st.builds(kernels.Subsequence, length=lengths, decay=st.floats(0.1, 1)),
    st.builds(PartialTree, decay=st.floats(0.1, 1), leaves=st.sampled_from(["lexical", "ignored"])),
    st.builds(WeisfeilerLehman, iterations=st.integers(0, 5), edge_labels=st.booleans()),
    st.builds(lambda kernel: ShortestPath(attributes=kernel), st.none() | of_numbers),
    st.builds(On, column_names | st.lists(column_names, min_size=1), of_numbers, missing=st.floats(0, 2)),
    st.builds(lambda kernel, at: On("x", kernel, origin=(at,)), of_numbers, st.floats(-1e3, 1e3)),
    st.builds(Standardized, of_numbers),
    st.builds(lambda name, way: Encoded({name: way}, RBF(1.0)), column_names, st.sampled_from(["number", "rank"])),
    st.builds(lambda kernel, at: Standardized(kernel, (at, 0.0), (1.0, 2.5)), of_numbers, st.floats(-1e3, 1e3)),
    st.builds(
        Columns,
        st.dictionaries(column_names, of_numbers, min_size=1, max_size=3),
        combine=st.sampled_from(["sum", "mean", "product"]),
        standardize=st.booleans(),
        missing=st.just("error") | st.floats(0, 2),
    ),
    st.builds(lambda parts, weight: Columns(parts, weights=dict.fromkeys(parts, weight)),
              st.dictionaries(column_names, of_numbers, min_size=1, max_size=3), numbers),
)  # fmt: skip


def combined(parts):
    return st.one_of(
        st.builds(lambda left, right: left + right, parts, parts),
        st.builds(lambda left, right: left * right, parts, parts),
        st.builds(lambda kernel, number: kernel + number, parts, numbers),
        st.builds(lambda number, kernel: number * kernel, numbers, parts),
        st.builds(lambda several: Sum(tuple(several)), st.lists(parts, min_size=1, max_size=3)),
        st.builds(lambda several: Product(tuple(several)), st.lists(parts, min_size=1, max_size=3)),
        st.builds(Scaled, numbers, parts),
        st.builds(Power, parts, st.integers(1, 4) | st.floats(0.5, 4)),
        st.builds(Normalized, parts),
        st.builds(Centered, parts),
    )


@given(st.recursive(atoms, combined, max_leaves=8))
def test_what_is_shown_is_read_back(kernel):
    assert parse(repr(kernel)) == kernel
    assert eval(repr(kernel), NAMES) == kernel  # noqa: S307  (text of our own making)


def test_a_bare_infinity_is_the_only_name_that_is_no_kernel():
    assert eval(repr(Matern(nu=math.inf)), {"Matern": Matern, "inf": math.inf}) == Matern(nu=math.inf)  # noqa: S307


def test_a_kernel_of_ones_own_is_shown_by_its_parameters():
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Mine(kernels.Kernel):
        width: float
        how: str = "fast"

    assert repr(Mine(2.0) + Mine(3.0, how="well")) == "Mine(2.0) + Mine(3.0, how='well')"
