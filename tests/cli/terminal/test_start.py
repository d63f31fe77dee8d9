"""The process of the command: what it puts off works when asked for, and nothing is lost at its end."""

import subprocess
import sys

import numpy as np
import pytest

import mercer


def said(script, code=0):
    """What a new process prints."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == code, done.stderr
    return done.stdout.split()


BEGIN = "import sys\nfrom mercer.cli import start\nstart.begin()\n"


def test_statistics_wait_until_they_are_asked_for():
    script = BEGIN + (
        "import sklearn.base\n"
        "late = sys.modules['scipy.stats']\n"
        "print(type(late) is start.Deferred, 'pandas' in sys.modules)\n"
        "import scipy.stats\n"
        "print(scipy.stats.mode([1, 1, 2]).mode, type(late) is start.Deferred, scipy.stats is late)\n"
    )
    assert said(script) == ["True", "False", "1", "False", "True"]


@pytest.mark.parametrize(
    "words",
    [
        "import scipy.stats.distributions as d; print(d.norm.cdf(0.0))",
        "from scipy.stats import norm; print(norm.cdf(0.0))",
        "import asyncio.locks; print(0.5 if asyncio.run(asyncio.sleep(0, True)) else 0)",
        "import numpy; print(0.5 if numpy.f2py.get_include() else 0)",
        "import scipy.stats; print(0.5 if not hasattr(scipy.stats, '__wrapped__') else 0)",
    ],
)
def test_whatever_is_put_off_is_there(words):
    assert said(BEGIN + words) == ["0.5"]


def test_what_is_imported_for_nothing_is_left_out_only_there():
    """scikit-learn's module goes without pandas; whoever asks for it has it, and it is the real one."""
    script = BEGIN + (
        "import sklearn.base\n"
        "print('pandas' in sys.modules, sys.modules['sklearn.utils.fixes'].pd)\n"
        "import pandas\n"
        "print(len(pandas.DataFrame({'a': [1, 2]})))"
    )
    assert said(script) == ["False", "None", "2"]


def test_a_package_is_hidden_from_no_other_module(tmp_path):
    """Not from what the module imports in turn, nor from another thread meanwhile, nor from its own functions later."""
    (tmp_path / "needed.py").write_text("value = 7\n")
    (tmp_path / "user.py").write_text("import needed\nvalue = needed.value\n")
    (tmp_path / "idle.py").write_text(
        "try:\n    import needed\nexcept ImportError:\n    needed = None\n"
        "import threading, user\nfound = []\n"
        "thread = threading.Thread(target=lambda: found.append(__import__('user').value))\n"
        "thread.start()\nthread.join()\n"
        "def later():\n    import needed\n    return needed.value\n"
    )
    script = BEGIN + (
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "start.FOR_NOTHING['idle'] = 'needed'\n"
        "import idle\n"
        "print(idle.needed, idle.user.value, *idle.found, idle.later())"
    )
    assert said(script) == ["None", "7", "7", "7"]


def test_models_of_pandas_rows_are_loaded_by_the_command(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"n": np.arange(20.0), "word": ["ab"[k % 2] for k in range(20)]})
    y = np.array(["low", "high"])[(frame["n"] > 9).astype(int)]
    model = mercer.SVC(kernel=mercer.kernels.Columns.infer(frame)).fit(frame, y)
    mercer.save(model, tmp_path / "m.mercer")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    script = BEGIN + (
        "from mercer.cli import run\n"
        f"sys.exit(run(['predict', {str(tmp_path / 'm.mercer')!r}, {str(tmp_path / 'rows.csv')!r}]))"
    )
    assert said(script) == ["prediction", *model.predict(frame)]


def test_the_end_keeps_its_promises():
    script = BEGIN + (
        "import atexit\n"
        "atexit.register(lambda: print('later'))\n"
        "sys.stdout.write('first ')\n"
        "start.end(4)\n"
        "print('never')"
    )
    assert said(script, code=4) == ["first", "later"]


def test_threads_that_still_work_are_waited_for():
    script = BEGIN + (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.3), print('worked'))).start()\n"
        "start.end(3)"
    )
    assert said(script, code=3) == ["worked"]


def test_a_train_command_imports_no_more_than_it_needs(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(40)))
    script = BEGIN + (
        "from mercer.cli import run\n"
        f"code = run(['train', {str(table)!r}, '--target', 'y', '--output', {str(tmp_path / 'm.mercer')!r}])\n"
        "heavy = ['pandas', 'matplotlib', 'sklearn.model_selection', 'sklearn.metrics', 'scipy.stats._stats_py']\n"
        "print('imported:', *(name for name in heavy if name in sys.modules))"
    )
    assert said(script)[-1] == "imported:"
