"""`--cluster`: the same model, made by others."""

import numpy as np
import pytest

from mercer import load
from mercer.cli.terminal.exit_codes import ExitCode
from tests.distributed.conftest import local_cluster


@pytest.fixture
def flowers(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{'red' if a * b > 0 else 'blue'}" for a, b in rng.normal(size=(120, 2))]
    (tmp_path / "flowers.csv").write_text("\n".join(["a,b,colour", *lines]))
    return str(tmp_path / "flowers.csv")


def test_tune_on_a_cluster_saves_the_model_that_is_found_without(mercer, flowers, tmp_path):
    ask = ("tune", flowers, "--target", "colour", "--C", "1", "--C", "8", "--gammas", "2", "--cv", "3")
    with local_cluster(2) as cluster:
        code, _, _ = mercer(*ask, "--output", str(tmp_path / "a"), "--cluster", cluster.scheduler_address)
    assert code == ExitCode.DONE
    code, _, _ = mercer(*ask, "--output", str(tmp_path / "b"))
    assert code == ExitCode.DONE
    ours, theirs = (load(tmp_path / name) for name in "ab")
    np.testing.assert_array_equal(ours.dual_coef_, theirs.dual_coef_)


def test_an_address_where_nobody_is_costs_one_line(mercer, flowers, monkeypatch):
    from mercer.distributed import connection

    monkeypatch.setattr(connection, "CONNECT", 0.5)
    code, out, err = mercer("train", flowers, "--target", "colour", "--cluster", "tcp://127.0.0.1:9")
    assert code == ExitCode.FAILED
    assert out == ""
    assert "no scheduler of dask.distributed answers at tcp://127.0.0.1:9" in err


def test_a_checkpoint_needs_a_cluster(mercer, flowers):
    code, _, err = mercer("train", flowers, "--target", "colour", "--checkpoint", "x")
    assert code == ExitCode.WRONG_USAGE
    assert "--cluster" in err
