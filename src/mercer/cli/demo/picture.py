"""The demo's picture: iris petals, once separable and once not."""

from pathlib import Path
from typing import Any

from sklearn.datasets import load_iris

from mercer import SVC
from mercer.plot import DecisionBoundaryDisplay
from mercer.plot.drawing.palette import load_pyplot


def draw_iris(folder: Path) -> Path:
    """Fit two models to the petals, draw both and write `folder`/iris.png."""
    plt = load_pyplot()
    bunch = load_iris()
    petals, species = bunch.data[:, 2:], bunch.target_names[bunch.target]
    # Agg on any desktop: the demo writes a file and opens no window.
    figure, (left, right) = _two_panels(plt)
    _panel(left, SVC(kernel="linear", C=1e3), petals, species == "setosa", ("other", "setosa"))
    left.set_title("setosa: separable, so a wide straight margin", fontsize="medium")
    both = species != "setosa"
    _panel(right, SVC(C=10.0, gamma=0.5), petals[both], species[both] == "virginica", ("versicolor", "virginica"))
    right.set_title("virginica: not separable, so a soft bent margin", fontsize="medium")
    return _save(figure, folder / "iris.png")


def _two_panels(plt: Any) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = plt.Figure(figsize=(11, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, 2)


def _panel(ax: Any, model: Any, petals: Any, positive: Any, names: tuple[str, str]) -> None:
    labels = [names[int(is_positive)] for is_positive in positive]
    model.fit(petals, labels)
    DecisionBoundaryDisplay.from_estimator(
        model, petals, labels, ax=ax, xlabel="petal length (cm)", ylabel="petal width (cm)"
    )


def _save(figure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without the version of matplotlib in it, the same picture is the same bytes.
    figure.savefig(path, dpi=110, metadata={"Software": None})
    return path
