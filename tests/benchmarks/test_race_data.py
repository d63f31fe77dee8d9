"""Names, subsets and the fallback when the races' data are not there."""

import numpy as np
import pytest

from benchmarks import large_fits
from benchmarks.growth import slope
from benchmarks.races.grid import chosen_settings
from benchmarks.sets import data
from benchmarks.sets.made import MADE, noisy_disc, teacher_values


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


@pytest.mark.parametrize("name", MADE)
def test_made_data_are_the_same_rows_at_any_time(name):
    X, y = MADE[name](3000, seed=3)
    assert X.dtype == np.float32
    assert np.isfinite(X).all()
    assert set(y) == {-1, 1}
    assert np.array_equal(X, MADE[name](3000, seed=3)[0])
    assert not np.array_equal(X, MADE[name](3000, seed=4)[0])


def test_made_data_are_of_their_kind():
    _, values = teacher_values(5000, noise=0.5)
    plain = teacher_values(5000, noise=0.0)[1]
    assert np.var(plain) == pytest.approx(1.0, abs=0.3)
    assert np.var(values - plain) == pytest.approx(0.25, abs=0.02)
    assert np.sum(MADE["imbalanced"](5000)[1] == 1) == 5
    # A few rows are very far away.
    sizes = np.linalg.norm(MADE["heavy-tailed"](5000)[0], axis=1)
    assert sizes.max() > 20 * np.median(sizes)
    digits = MADE["digits"](500)[0]
    assert 0.0 <= digits.min() < digits.max() <= 1.0


def test_a_growth_curve_in_processes_of_their_own(capsys):
    records = large_fits.main(["--sizes", "500", "1000", "--machines", "SVC", "SVR", "OneClassSVM", "--full"])
    assert [record["rows"] for record in records] == [500, 1000] * 3
    assert all(record["status"] == "OPTIMAL" and record["full_kkt"] <= 1e-3 for record in records)
    told = capsys.readouterr().out
    assert "SVC on disc: slope of fit on n" in told
    assert "memory: 0 of 6 fits add more than memory_limit" in told


def test_an_error_in_a_process_is_told():
    with pytest.raises(RuntimeError, match="No module named 'no_such_peer'"):
        large_fits.in_a_process("SVC", "disc", 500, "no_such_peer", "1GiB", False)


def test_slope_of_a_power_law():
    sizes = np.array([1e3, 1e4, 1e5])
    assert slope(sizes, 3e-7 * sizes**1.7) == pytest.approx(1.7)
