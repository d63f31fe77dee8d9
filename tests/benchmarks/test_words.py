"""The text example on records like those of Reuters, without the file."""

import pytest

from benchmarks import words
from benchmarks.sets import data
from mercer import theory


def record(part, topics, title, body):
    return {"modapte": part, "topics": topics, "title": title, "body": body}


RECORDS = [
    record("train", ["earn"], "profit", "quarter profit rose"),
    record("train", ["earn", "acq"], "dividend", "quarter dividend set"),
    record("train", ["crude"], "oil", "opec oil barrels"),
    record("train", [], "wheat", "wheat harvest"),
    record("test", ["earn"], "profit", "dividend and profit"),
    record("test", [], "opec", "oil and wheat"),
    record("unused", ["earn"], "left out", "left out"),
]


def test_the_split_and_the_topic():
    (texts, y), (_, y_new) = words.split(RECORDS, "earn")
    assert y.tolist() == [1, 1, -1, -1]
    assert y_new.tolist() == [1, -1]
    assert texts[0] == "profit\nquarter profit rose"
    assert words.split(RECORDS, "earn", part="title")[0][0] == ["profit", "dividend", "oil", "wheat"]


def test_it_learns_and_prints_a_line_for_each_norm(capsys):
    (texts, y), (new_texts, y_new) = words.split(RECORDS, "earn")
    X, dictionary = theory.bag_of_words(texts)
    model = words.learn(X, y, theory.bag_of_words(new_texts, dictionary)[0], y_new, norms=(1.0, 10.0))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"m = 4, d = {len(dictionary)}, rho² = 3"
    assert len(lines) == 4
    assert model.score(X, y) == 1.0


def test_without_the_file_it_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setattr(data, "ROOT", tmp_path / "elsewhere" / "repository")
    with pytest.raises(SystemExit, match="set MERCER_DATA"):
        words.documents("earn")
