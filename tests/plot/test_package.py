import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mercer.plot

FOLDER = Path(mercer.plot.__file__).parent
GALLERY = FOLDER.parents[2] / "examples"
PICTURES = Path(__file__).parent / "baseline"


def test_asking_for_the_room_loads_no_matplotlib():
    code = "import sys, mercer.plot; dir(mercer.plot); print('matplotlib' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_name_that_is_none_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'PieChart'"):
        mercer.plot.PieChart  # noqa: B018


def test_type_checkers_see_the_same_names():
    tree = ast.parse((FOLDER / "__init__.py").read_text())
    (guarded,) = [node for node in tree.body if isinstance(node, ast.If)]
    assert sorted(alias.name for node in guarded.body for alias in node.names) == mercer.plot.__all__


@pytest.mark.parametrize("name", mercer.plot.__all__)
def test_every_display_has_a_page_and_a_kept_picture(name):
    display = getattr(mercer.plot, name)
    assert callable(display.plot)
    assert any(hasattr(display, maker) for maker in dir(display) if maker.startswith("from_"))
    assert any(name in page.read_text() for page in GALLERY.glob("*/plot_*.py"))
    assert name in (FOLDER.parents[2] / "docs/plots.md").read_text()
    stem = display.__module__.rpartition(".")[2]
    assert any(picture.name.startswith(stem) for picture in PICTURES.glob("*.png"))


def test_without_matplotlib_one_sentence_names_the_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "import mercer, mercer.plot as p; [getattr(p, n) for n in p.__all__]\n"
        "for draw in (lambda: p.WeightsDisplay.from_weights('ab', [1, 2]), "
        "lambda: p.CalibrationDisplay.from_predictions([0, 1], [0.1, 0.9])):\n"
        "    try: draw()\n    except mercer.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["drawing needs matplotlib: pip install 'mercer[plot]'"] * 2
