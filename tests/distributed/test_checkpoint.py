"""The file from which a fit goes on: whole, of this problem, and worth less than the fit."""

import errno

import numpy as np
import pytest

from mercer import ParameterError, Status
from mercer.distributed import checkpoint as checkpoints
from mercer.distributed.checkpoint import Checkpoint
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.newton import solve_many
from mercer.solvers.elsewhere import in_force
from mercer.solvers.limits import Limits
from tests.distributed.rows_of_files import bits_of, blocks_of, fit


def fit_until(rows, kept, step, **how):
    """A fit that a callback ends at a step, with what it leaves in a file."""
    seen = []
    limits = Limits(callbacks=[lambda point: seen.append(point) or len(seen) == step])
    with in_force(None, Checkpoint(kept)):
        return fit(rows[0], rows[1], limits=limits, **how)


@pytest.fixture(autouse=True)
def _every_step_is_written(monkeypatch):
    monkeypatch.setattr(checkpoints, "SELDOM", 0.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "epsilon_insensitive"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fit_goes_on_where_the_last_one_ended_to_the_same_bits(rows, tmp_path, loss, dtype):
    how = {"loss": loss, "dtype": dtype, "gap_tol": 1e-5}
    whole = fit(rows[0], rows[1], **how)
    for step in sorted({1, (whole.iterations + 1) // 2, whole.iterations}):
        kept = tmp_path / f"kept-{step}"
        assert fit_until(rows, kept, step, **how).status == Status.INTERRUPTED
        seen = []
        with in_force(None, Checkpoint(kept)):
            again = fit(rows[0], rows[1], **how, limits=Limits(callbacks=[seen.append]))
        assert bits_of(again) == bits_of(whole)
        assert (again.status, again.iterations) == (Status.OPTIMAL, whole.iterations)
        # What was done is not done again.
        assert len(seen) <= len(whole.trace) - step + 1


def test_several_machines_go_on_each_from_its_own_place(rows, tmp_path):
    path, y, _ = rows
    machines = [BlockMachine(y, C, "hinge") for C in (0.001, 1.0, 10.0)]

    def solved(limits=None):
        return solve_many(blocks_of(path), machines, limits=limits, dtype=np.float32)

    whole = [bits_of(each) for each in solved()]
    for step in (2, 5, 9, 14):
        seen = []
        limits = Limits(callbacks=[lambda point, seen=seen, step=step: seen.append(point) or len(seen) == step])
        with in_force(None, Checkpoint(tmp_path / f"kept-{step}")):
            assert Status.INTERRUPTED in [each.status for each in solved(limits)]
        with in_force(None, Checkpoint(tmp_path / f"kept-{step}")):
            assert [bits_of(each) for each in solved()] == whole


def test_solved_problems_are_kept_beside_the_one_that_is_solved_now(rows, tmp_path):
    kept = Checkpoint(tmp_path / "kept")
    with in_force(None, kept):
        fit(rows[0], rows[1])
        fit(rows[0], -rows[1], "squared_hinge")
    assert len(Checkpoint(tmp_path / "kept")._problems) == 2


def test_another_problem_is_not_begun_from_it(rows, tmp_path):
    kept = tmp_path / "kept"
    fit_until(rows, kept, 2)
    before = kept.read_bytes()
    with in_force(None, Checkpoint(kept)), pytest.raises(ParameterError, match="belongs to another problem"):
        fit(rows[0], np.roll(rows[1], 1))
    assert kept.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"my thesis", b"PK\x03\x04 cut short"])
def test_a_file_of_others_is_not_overwritten(tmp_path, content):
    (tmp_path / "thesis").write_bytes(content)
    with pytest.raises(ParameterError, match="exists but is not a Mercer checkpoint, or is damaged"):
        Checkpoint(tmp_path / "thesis")
    assert (tmp_path / "thesis").read_bytes() == content


def test_a_checkpoint_that_is_cut_short_is_told(rows, tmp_path):
    kept = tmp_path / "kept"
    fit_until(rows, kept, 2)
    kept.write_bytes(kept.read_bytes()[:-200])
    with pytest.raises(ParameterError, match="is damaged"):
        Checkpoint(kept)


def test_a_folder_that_is_not_there_is_told_before_work_begins(tmp_path):
    with pytest.raises(ParameterError, match="there is no folder"):
        Checkpoint(tmp_path / "nowhere" / "kept")


def test_no_space_is_said_once_and_the_fit_goes_on(rows, tmp_path, monkeypatch):
    kept, write, calls = tmp_path / "kept", checkpoints.replace_file, []

    def full(path, pieces):
        calls.append(path)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, pieces)

    monkeypatch.setattr(checkpoints, "replace_file", full)
    with (
        in_force(None, Checkpoint(kept)),
        pytest.warns(RuntimeWarning, match="No space left.*the last one written is still good") as told,
    ):
        found = fit(rows[0], rows[1])
    assert len(told) == 1
    assert len(calls) > 3
    assert (found.w == fit(rows[0], rows[1]).w).all()
    Checkpoint(kept)  # is whole
