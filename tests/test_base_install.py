"""One model, whatever is installed: from an environment with nothing but the base, and from this one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_base_install import TABLES, content

ROOT = Path(__file__).parent.parent
EXTRAS = ("pyarrow", "pandas", "polars", "matplotlib", "duckdb", "sqlalchemy", "onnx", "starlette", "dask")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_base_install_trains_the_model_that_the_full_one_trains(tmp_path):
    base = tmp_path / "base" / "bin"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "base"], check=True)
    pinned = [base / "python", "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt"]
    subprocess.run([*pinned, "hatchling"], check=True)
    subprocess.run([*pinned, "--no-build-isolation", ROOT], check=True)
    has = "import importlib.util as u, sys; print([n for n in sys.argv[1:] if u.find_spec(n)])"
    found = subprocess.run([base / "python", "-c", has, *EXTRAS], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"
    trained = {}
    for name, folder in (("base", base), ("full", Path(sys.executable).parent)):
        here = tmp_path / name / "work"
        here.mkdir(parents=True)
        for file, text in TABLES.items():
            (here / file).write_text(text)
            words = [folder / "mercer", "train", file, "--target", "y", "--n-jobs", "1", "--output", f"{file}.mercer"]
            environment = {**os.environ, "SOURCE_DATE_EPOCH": "1"}
            if name == "base":
                environment.pop("PYTHONPATH", None)
            subprocess.run(words, cwd=here, env=environment, check=True, capture_output=True)
        trained[name] = {file: content(here / f"{file}.mercer") for file in TABLES}
    assert trained["base"] == trained["full"]
