"""A platform wheel carries compiled code: with it, nobody waits for a compiler."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Every machine as a newcomer meets it: a first fit, predictions, the certificate.
PROGRAM = """
import json, sys, warnings
import numpy as np
from mercer.workflow.compile_ahead import jobs
from mercer._jit.compile import compiled_here
import mercer
found = {"from": mercer.__file__}
for name, job in jobs().items():
    before = len(compiled_here())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        job()
    found[name] = compiled_here()[before:]
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64", reason="there are levels of x86-64 only")
def test_with_the_wheel_no_first_fit_compiles(tmp_path):
    subprocess.run(["make", "wheel"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob("*-linux_x86_64.whl")
    installed = tmp_path / "installed"
    # What it needs is there already; pip refuses a wheel that is not for this Python and processor.
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", installed, wheel]
    subprocess.run(pip, check=True)
    environment = {**os.environ, "PYTHONPATH": str(installed), "MERCER_CACHE_DIR": str(tmp_path / "empty")}
    seen = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = json.loads(seen.stdout.splitlines()[-1])
    assert found.pop("from").startswith(str(installed))
    assert {name: functions for name, functions in found.items() if functions} == {}
