"""An evaluation of a machine over blocks as arrays, so that another fit can ask for it again, to the same bits."""

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.blocks.passes import Evaluate, Place
from mercer.solvers.elsewhere import State


def state_of(request: Evaluate, centre: FloatArray | None) -> State:
    """The request, and the rounding centres at that time."""
    return {
        "at": flat(request.at),
        "step": np.zeros(0) if request.step is None else np.append(*request.step),
        "moved": np.zeros(0) if request.moved is None else flat(request.moved),
        "narrower": np.array([] if request.narrower is None else [request.narrower]),
        "centre": np.zeros(0) if centre is None else centre,
    }


def request_of(state: State) -> Evaluate:
    """Inverse of `state_of`."""
    step, moved, narrower = state["step"], state["moved"], state["narrower"]
    return Evaluate(
        place_of(state["at"]),
        (step[:-1], float(step[-1])) if len(step) else None,
        place_of(moved) if len(moved) else None,
        float(narrower[0]) if len(narrower) else None,
    )


def flat(place: Place) -> FloatArray:
    """A point as one array."""
    return np.append(place.v, (place.b, place.width))


def place_of(array: FloatArray) -> Place:
    """Inverse of `flat`."""
    return Place(array[:-2], float(array[-2]), float(array[-1]))
