"""One module for each view of the page. `ACTIONS` is everything that the page may ask for."""

from mercer.studio.server.worker import Action
from mercer.studio.views import explaining, ideas, opening, playground, solving, training, tuning

_VIEWS = (playground, solving, ideas, opening, training, explaining, tuning)
ACTIONS: dict[str, Action] = {name: action for view in _VIEWS for name, action in view.ACTIONS.items()}
