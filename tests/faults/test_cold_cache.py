"""The first fit on a machine compiles for seconds: this counts against the time limit, and Ctrl-C ends it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.cold_fits import LIMIT
from tests.faults.processor_time import processor_seconds
from tests.faults.test_every_fit_ends import LONGEST

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(600)
def test_code_that_is_not_compiled_in_time(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.cold_fits"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "MERCER_CACHE_DIR": str(tmp_path)},
    ) as process:

        def hear():
            return json.loads(process.stdout.readline())

        def processor_time_after(seconds):
            begun = hear()["begun"]
            time.sleep(max(0.0, begun + seconds - time.monotonic()))
            return processor_seconds(process.pid)

        then = processor_time_after(LIMIT)
        by_time = hear()
        assert by_time["outcome"].startswith(f"TimeLimitError: time_limit={LIMIT} ran out before")
        assert str(tmp_path) in by_time["outcome"]
        assert not by_time["is_fitted"]
        assert by_time["used"] - then <= LONGEST

        then = processor_time_after(LIMIT)
        os.kill(process.pid, signal.SIGINT)
        by_key = hear()
        assert by_key["outcome"].startswith("KeyboardInterrupt")
        assert not by_key["is_fitted"]
        assert by_key["used"] - then <= LONGEST

        hear()
        assert hear()["outcome"] == "OPTIMAL"
    assert process.returncode == 0
