"""The way of a search over scores that are known, so that where it must end is known too."""

import numpy as np
import pytest

from mercer.selection.auto import climb
from mercer.selection.auto.climb import Climb
from mercer.selection.auto.lattice import Line, Space
from mercer.selection.tuning.results import DONE, Table
from mercer.selection.tuning.search import Task
from mercer.solvers.limits import Limits


def task_of(n):
    rows = np.arange(n)
    return Task(np.zeros((n, 1)), rows % 2, None, [(rows[rows % 5 != k], rows[rows % 5 == k]) for k in range(5)])


class Hill:
    """Scores that are highest at one width and C, with a record of what was asked."""

    def __init__(self, width=1.0, C=1.0, better=(), noise=0.0, clock=None):
        self.width, self.C, self.better, self.noise, self.clock = width, C, better, noise, clock
        self.asked = []

    def score(self, setting):
        away = np.log2(setting.get("width", 1.0) / self.width) ** 2 + np.log2(setting["C"] / self.C) ** 2
        return 1.0 - 0.01 * away + 0.5 * (setting["family"] in self.better)

    def __call__(self, settings, part, progress):
        table = Table(settings, 5, ["score"])
        for number, setting in enumerate(settings):
            self.asked.append((part.n, setting))
            table.test["score"][number] = self.score(setting) + self.noise * np.arange(-2, 3)
        table.state[:] = DONE
        if self.clock is not None:
            self.clock.pass_(len(settings) * part.n**2)
        return table


def lines(*names):
    return tuple(Line({"family": name}, "width", (0.5, 1.0, 2.0), 2.0, (2.0**-8, 2.0**8)) for name in names)


def climbed(hill, n=300, families=("a",), limits=None, **options):
    space = Space(lines(*families), (0.25, 1.0, 4.0), 4.0, (2.0**-12, 2.0**18), options.pop("extras", ()))
    options = {"blend": lambda _: None, "best_possible": None, **options}
    search = Climb(space, task_of(n), hill, "score", limits or Limits(), **options)
    return search, search.search(0, True, False)


def best(table):
    last = np.flatnonzero(table.rounds == table.rounds.max())
    return table.settings[last[np.argmax(table.means("score")[last])]]


def test_it_goes_on_where_the_best_lies_at_an_end():
    _, table = climbed(Hill(width=2.0**-5, C=4.0**5))
    assert best(table) == {"family": "a", "width": 2.0**-5, "C": 4.0**5}


def test_it_stops_at_the_ends_of_what_makes_sense():
    space = Space((Line({"family": "a"}, "width", (1.0,), 2.0, (0.5, 2.0)),), (1.0,), 1.0)
    search = Climb(space, task_of(100), Hill(width=2.0**9), "score", Limits(), lambda _: None, None)
    widths = sorted({setting["width"] for setting in search.search(0, True, False).settings})
    assert widths == pytest.approx([0.5, 1.0, 2**0.5, 2.0])


def test_a_best_with_neighbours_on_both_sides_is_refined_by_half_a_step():
    _, table = climbed(Hill(width=2**0.5, C=1.0))
    assert best(table)["width"] == pytest.approx(2**0.5)


def test_only_what_may_win_is_widened():
    hill = Hill(width=2.0**4, better=("b",))
    climbed(hill, families=("a", "b"))
    widest = {name: max(s["width"] for _, s in hill.asked if s["family"] == name) for name in "ab"}
    assert widest["a"] == 2.0
    assert widest["b"] >= 2.0**4


def test_more_rows_are_for_the_better_kernels():
    hill = Hill(better=("c",), noise=0.01)
    _, table = climbed(hill, n=6000, families=tuple("abcdef"))
    sizes = sorted({n for n, _ in hill.asked})
    assert len(sizes) == 3
    assert sizes[-1] == 6000
    assert all(size == pytest.approx(sizes[-1] / 3**k, abs=2) for k, size in enumerate(reversed(sizes)))
    kernels = [{(s["family"], s["width"]) for n, s in hill.asked if n == size} for size in sizes]
    assert len(kernels[0]) > len(kernels[1]) > len(kernels[2])
    # The kernel by rule, here the first, stays to the end to be compared with the best.
    assert {name for name, _ in kernels[2]} == {"a", "c"}
    assert len([name for name, _ in kernels[2] if name == "a"]) == 1
    assert best(table)["family"] == "c"


def test_very_many_rows_are_judged_on_a_part_of_them():
    hill = Hill()
    climbed(hill, n=50_000)
    assert max(n for n, _ in hill.asked) == pytest.approx(climb.MOST_ROWS, abs=2)


def test_a_score_that_cannot_be_better_ends_it():
    search, table = climbed(Hill(width=2.0**5), best_possible=0.5)
    assert search.ending == "the score cannot be better"
    assert len(table.settings) == 9


def test_other_parameters_and_kernels_together_are_tried_with_the_best():
    together = []

    def blend(settings):
        together.append(settings)
        return Line({"family": "mixture"})

    hill = Hill(better=("mixture",))
    _, table = climbed(hill, families=("a", "b"), blend=blend, extras=({"class_weight": "balanced"},))
    assert {setting["family"] for setting in together[0]} == {"a", "b"}
    assert best(table)["family"] == "mixture"
    assert any(s.get("class_weight") == "balanced" for _, s in hill.asked)


# ------------------------------------------------------------------ time


class Clock:
    """Time that passes by the work that is done, not by the clock on the wall."""

    def __init__(self, monkeypatch, per_entry):
        self.now, self.per_entry = 0.0, per_entry
        monkeypatch.setattr(climb.time, "perf_counter", lambda: self.now)

    def pass_(self, entries):
        self.now += entries * self.per_entry

    def limits(self, seconds):
        clock = self

        class Timed(Limits):
            seconds = property(lambda self: clock.now)
            reached = stop = lambda self, share=None: clock.now > self.time_limit

        timed = Timed(time_limit=seconds)
        timed.reached = lambda: None
        return timed


def test_a_limit_of_time_leaves_enough_for_the_last_fit(monkeypatch):
    clock = Clock(monkeypatch, 1e-7)
    # Nine settings on 3000 rows take 8.1 seconds; one fold of them 0.54.
    hill = Hill(clock=clock, noise=0.01)
    search, table = climbed(hill, n=3000, families=tuple("abcd"), limits=clock.limits(12.0))
    assert clock.now < 12.0
    assert len(table.settings) > 9
    assert table.planned > table.state.size
    assert "last fit" in search.ending


def test_time_that_is_left_is_used_until_nothing_is_gained(monkeypatch):
    few, many = Hill(noise=0.01), Hill(noise=0.01)
    climbed(few, n=3000, families=tuple("abcd"))
    clock = Clock(monkeypatch, 1e-12)
    search, _ = climbed(many, n=3000, families=tuple("abcd"), limits=clock.limits(1e9))
    assert len(many.asked) > len(few.asked)
    assert search.ending in (
        "the last rounds improved the score by less than the folds can tell",
        "there was nothing left to try",
    )
