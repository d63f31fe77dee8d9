"""The race of kernel weights where the data files are not there."""

import pytest

from benchmarks import mkl


def test_without_the_data_what_scikit_learn_carries_is_raced(monkeypatch, capsys):
    monkeypatch.setattr(mkl, "data_folder", lambda: None)
    names = mkl.can_be_raced(None)
    assert names == ["breast_cancer", "views:1000", "digits:500"]
    assert "set MERCER_DATA" in capsys.readouterr().out
    grams, y = mkl.matrices("views:40")
    assert len(grams) == 12
    assert len(y) == 40


def test_a_set_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(mkl, "data_folder", lambda: None)
    with pytest.raises(SystemExit, match=r"sonar, splice:1000: .* set MERCER_DATA"):
        mkl.can_be_raced(["sonar", "breast_cancer", "splice:1000"])


def test_with_the_data_all_are_raced(monkeypatch, tmp_path):
    monkeypatch.setattr(mkl, "data_folder", lambda: tmp_path)
    assert mkl.can_be_raced(None) == list(mkl.SETS)
    assert mkl.can_be_raced(["sonar"]) == ["sonar"]
