"""Names, subsets and the fallback when the races' data are not there."""

import numpy as np
import pytest

from benchmarks import data
from benchmarks.grid import chosen_settings
from benchmarks.growth import slope
from benchmarks.made import noisy_disc


@pytest.fixture
def no_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setattr(data, "ROOT", tmp_path / "elsewhere" / "repository")


@pytest.mark.parametrize("name", data.BUNDLED)
def test_bundled_sets_are_scaled_float32_with_rows_held_out(name):
    loaded = data.load(name)
    assert loaded.X.dtype == loaded.X_test.dtype == np.float32
    assert loaded.X.flags.c_contiguous
    assert len(loaded.X) == len(loaded.y) == pytest.approx(4 * len(loaded.y_test), rel=0.01)
    assert np.abs(loaded.X).max() < 20


def test_a_subset_is_drawn_at_random_and_is_the_same_each_time():
    first, again = data.load("digits:100"), data.load("digits:100")
    assert first.X.shape[0] == 100
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, data.load("digits").X[:100])


def test_a_subset_larger_than_the_set_is_refused():
    with pytest.raises(ValueError, match="training rows, got 'breast_cancer:9999'"):
        data.load("breast_cancer:9999")


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"must be one of spambase.*got 'iriss'"):
        data.load("iriss")


def test_without_a_folder_the_bundled_sets_are_raced(no_folder):
    assert data.race_names() == ["digits", "breast_cancer"]
    with pytest.raises(FileNotFoundError, match="set MERCER_DATA"):
        data.load("spambase")


def test_a_wrong_folder_is_named(monkeypatch):
    monkeypatch.setenv("MERCER_DATA", "/no/such/folder")
    with pytest.raises(FileNotFoundError, match="/no/such/folder"):
        data.data_folder()


def test_every_set_has_three_settings_with_the_hard_one():
    assert set(data.SETTINGS) == set(data.LOADERS)
    assert all(len(settings) == 3 and settings[2][0] == 100 for settings in data.SETTINGS.values())


def test_settings_by_ordinal_or_by_value():
    assert chosen_settings("letter:500", ["3", "7:0.5"]) == [(100, 1), (7.0, 0.5)]
    with pytest.raises(SystemExit, match="got 'many'"):
        chosen_settings("letter", ["many"])


def test_made_data_have_two_even_classes():
    X, y = noisy_disc(4000, seed=3)
    assert X.dtype == np.float32
    assert 0.4 < np.mean(y == 1) < 0.6


def test_slope_of_a_power_law():
    sizes = np.array([1e3, 1e4, 1e5])
    assert slope(sizes, 3e-7 * sizes**1.7) == pytest.approx(1.7)
