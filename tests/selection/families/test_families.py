import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer._errors import DataError
from mercer.kernels.table.frame import as_frame
from mercer.selection.families.items import item_families, table_families
from mercer.selection.families.learnt import Recipe, learnt_kernel
from mercer.selection.families.vectors import vector_families


def psd(K):
    return np.linalg.eigvalsh(K).min() > -1e-8 * max(1.0, np.abs(K).max())


def test_every_kernel_of_numbers_is_bound_and_positive_semidefinite(rng):
    X = rng.normal(size=(25, 3)) * [1.0, 100.0, 0.01]
    for family in vector_families(X):
        for value in family.values:
            kernel = family.make(value)
            if not isinstance(kernel, Recipe):
                assert kernel.is_bound
                assert psd(kernel(X)), family.name


def test_widths_are_in_units_of_the_data(rng):
    X = rng.normal(size=(50, 4))
    for one, other in zip(vector_families(X), vector_families(1000.0 * X + 7.0), strict=True):
        if one.name in ("rbf", "laplacian", "matern", "rational_quadratic", "additive"):
            assert one.make(1.0)(X) == pytest.approx(other.make(1.0)(1000.0 * X + 7.0), rel=1e-6)


def test_columns_of_very_different_scales_are_not_taken_as_they_are(rng):
    X = rng.normal(size=(50, 3))
    assert "unscaled" in {family.name for family in vector_families(X)}
    assert "unscaled" not in {family.name for family in vector_families(X * [1.0, 1.0, 1e5])}


def test_sparse_rows_stay_sparse(rng):
    X = sparse.random_array((20, 50), density=0.2, rng=rng, format="csr")
    families = vector_families(X)
    assert {family.name for family in families} == {"linear", "cosine", "rbf"}
    assert all(psd(family.make(value)(X)) for family in families for value in family.values)


@pytest.mark.parametrize("value", [1, 2, 3])
def test_texts_have_kernels_of_several_lengths(value):
    words, letters = ["the cat sat", "a dog ran off", "the dog sat"], ["acgtacgt", "ttgacca", "acgttga"]
    for texts in (words, letters):
        for family in item_families(texts):
            assert psd(family.make(max(value, int(family.ends[0])))(texts))
    assert [family.name for family in item_families(words)] == ["words", "letters", "words+letters"]


def test_a_table_has_its_kernel_in_several_widths(rng):
    frame = pd.DataFrame({"a": rng.normal(size=30), "b": rng.choice(list("xyz"), 30), "c": rng.normal(size=30)})
    frame.loc[::7, "c"] = np.nan
    families = {family.name: family for family in table_families(frame)}
    assert list(families) == ["rough", "once_smooth", "gaussian", "table", "additive"]
    off = ~np.eye(30, dtype=bool)
    narrow, usual = (families["additive"].make(value)(frame)[off] for value in (0.5, 1.0))
    assert (narrow <= usual + 1e-12).all()
    assert psd(families["table"].make(2.0)(frame))


def test_a_table_s_columns_are_weighed_by_the_labels_of_the_rows_that_are_learnt_from(rng):
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    y = (np.abs(frame["a"].to_numpy()) > 0.7).astype(int)
    recipe, wide = (table_families(frame)[2].make(width) for width in (1.0, 2.0))
    assert isinstance(recipe, Recipe)
    known = {}
    kernel = learnt_kernel(recipe, as_frame(frame).rows(), y, None, True, known)
    assert psd(kernel(frame))
    # Rows that differ in what does not count are alike.
    twins = pd.DataFrame({"a": [0.0, 0.0, 1.5], "b": [-1.0, 1.0, -1.0]})
    K = kernel(frame, twins)
    assert np.abs(K[:, 0] - K[:, 1]).max() < 0.5 * np.abs(K[:, 0] - K[:, 2]).max()
    known["gaussian"] = kernel
    assert (learnt_kernel(wide, frame, y, None, True, known)(frame) >= kernel(frame) - 0.2).all()


def test_what_no_family_is_for_is_refused():
    with pytest.raises(DataError, match="rows of numbers, texts, trees, graphs or a table"):
        item_families([object(), object()])
