import io

import pytest
from rich.console import Console

from mercer.cli.terminal.record_table import show_record
from mercer.report.record import Record


def said(notes, **options):
    out = Console(file=io.StringIO(), width=80)
    model = dict.fromkeys(["kernel", "n_support", "status", "certificate", "distance"]) | {
        "steps": [],
        "estimator": "SVC",
    }
    show_record(Record("it", {"learnt_from": None}, model, notes=notes), out, **options)
    return out.file.getvalue()


def test_a_note_for_each_of_many_columns_is_not_read_by_anybody():
    words = said([f"note {k}" for k in range(64)])
    assert [f"note {k}" in words for k in (0, 7, 62, 63)] == [True] * 4
    assert words.split("note 63\n")[1].lstrip().startswith("(54 more lines are in --json and --report)")
    assert "note 8\n" not in words


@pytest.mark.parametrize("width", [None, "80"])
def test_a_few_notes_are_all_said_but_those_that_were_said_before(width, monkeypatch):
    if width is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", width)
    words = said([f"note {k}" for k in range(11)], told=["note 3"])
    assert [k for k in range(11) if f"note {k}\n" in words] == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]
