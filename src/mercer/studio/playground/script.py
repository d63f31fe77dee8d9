"""The Python code that reproduces what is on the screen: it runs, prints the numbers and draws the picture."""

import re
from typing import Any

import mercer.kernels
from mercer.studio.playground.methods import Method, method_of
from mercer.studio.playground.scene import Scene

_CLASSES = """\
print("status        ", model.status_.name)
print("training error", (model.predict(X) != y).mean())
{more}"""
_SUPPORT = """\
print("support       ", model.support_)
"""
_MARGIN = """\
print("margin        ", model.margin_)
"""
_PROVED = """\
try:
    model.fit(X, y)
except NotSeparableError as proof:
    raise SystemExit(str(proof)) from None"""
_DRAWN = """
picture = {display}.from_estimator(model, X, y, xlabel="{x}", ylabel="{y}")
picture.figure_.savefig("mercer_studio.png", dpi=150)
print("picture       ", "mercer_studio.png")
"""
_REGION = """\
print("status        ", model.status_.name)
print("outside       ", (model.predict(X) == -1).sum())
"""
_CURVE = """\
print("status        ", model.status_.name)
print("rms error     ", ((model.predict(X) - y) ** 2).mean() ** 0.5)
"""


def script(scene: Scene) -> str:
    """A program that fits the same model to the same points, prints its numbers and draws its picture.

    Examples
    --------
    >>> from mercer.studio.playground.scene import Scene
    >>> from mercer.studio.playground.script import script
    >>> text = script(Scene.of({"points": [[0, 0, 0], [1, 1, 1]], "method": "hard", "kernel": "linear"}))
    >>> print(text.splitlines()[3])
    from mercer import HardMarginSVC, NotSeparableError
    """
    method = method_of(scene)
    kind, arguments = method.build(scene)
    is_hard = kind.__name__ == "HardMarginSVC"
    lines = [
        '"""Made by Mercer Studio; the picture needs matplotlib, pip install \'mercer[plot]\'."""',
        "import numpy as np",
        "",
        f"from mercer import {kind.__name__}{', NotSeparableError' if is_hard else ''}",
        *_kernel_import(repr(arguments["kernel"])),
        f"from mercer.plot import {_display(method)}",
        "",
        f"points = np.array({_rows(scene)})",
        *_data(scene, method),
        "",
        f"model = {kind.__name__}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})",
        _PROVED if is_hard else "model.fit(X, y)",
        "",
    ]
    return "\n".join(lines) + _report(method, kind) + _drawing(method)


def _display(method: Method) -> str:
    return "TubeDisplay" if method.kind == "curve" else "DecisionBoundaryDisplay"


def _drawing(method: Method) -> str:
    x, y = ("x", "y") if method.kind == "curve" else ("x1", "x2")
    return _DRAWN.format(display=_display(method), x=x, y=y)


def _kernel_import(text: str) -> list[str]:
    names = sorted(name for name in set(re.findall(r"[A-Za-z]+", text)) if name in mercer.kernels.__all__)
    return [f"from mercer.kernels import {', '.join(names)}"] if names else []


def _rows(scene: Scene) -> str:
    rows = [f"[{x!r}, {y!r}]" for x, y in scene.points.tolist()]
    lines = [", ".join(rows[k : k + 4]) for k in range(0, len(rows), 4)]
    return "[\n    " + ",\n    ".join(lines) + ",\n]" if lines else "[]"


def _data(scene: Scene, method: Method) -> list[str]:
    if method.kind == "curve":
        return ["X, y = points[:, :1], points[:, 1]"]
    if method.kind == "region":
        return ["X, y = points, None"]
    return ["X = points", f"y = np.array({scene.labels.tolist()})"]


def _report(method: Method, kind: type[Any]) -> str:
    if method.kind == "curve":
        return _CURVE
    if method.kind == "region":
        return _REGION
    has_support = kind.__name__ in ("SVC", "NuSVC", "HardMarginSVC", "RampSVC")
    more = (_SUPPORT if has_support else "") + (_MARGIN if kind.__name__ == "HardMarginSVC" else "")
    return _CLASSES.format(more=more)
