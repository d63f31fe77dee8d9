"""Figures compared with kept pictures of them.

A figure is drawn small and both pictures are averaged over blocks, so that the smoothing of a letter's edge does not
count, but a mark, a line or a colour in another place does. `MERCER_KEEP_PICTURES=1 pytest tests/plot` draws the
kept ones anew; look at them before committing.
"""

import os
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread, imsave

KEPT = Path(__file__).parent / "baseline"
DPI = 48
BLOCK = 4
# In units of full brightness: of all blocks together, and of the block that differs most.
TYPICAL, WORST = 0.004, 0.08


def rendered(figure):
    """The figure as an array of shape (height, width, 3), from 0 to 1."""
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3] / 255.0


def blocks(picture):
    """Means over squares of pixels; what is left over at the edges is dropped."""
    height, width = (size // BLOCK * BLOCK for size in picture.shape[:2])
    squares = picture[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3)
    return squares.mean(axis=(1, 3))


def difference(first, second):
    """(typical, largest) difference of two pictures of the same shape."""
    away = np.abs(blocks(first) - blocks(second))
    return float(np.sqrt(np.mean(away**2))), float(away.max())


def assert_pictured(figure, name):
    """The figure looks as kept in baseline/`name`.png."""
    picture, path = rendered(figure), KEPT / f"{name}.png"
    if os.environ.get("MERCER_KEEP_PICTURES"):
        imsave(path, picture)
    assert path.exists(), f"there is no kept picture {path.name}"
    kept = imread(path)[..., :3]
    assert picture.shape == kept.shape, f"{name} is drawn {picture.shape[:2]}, kept {kept.shape[:2]}"
    typical, worst = difference(picture, kept)
    assert typical <= TYPICAL, f"{name} differs from the kept picture by {typical:.3f} on the whole"
    assert worst <= WORST, f"{name} differs from the kept picture by {worst:.3f} at one place"
