"""One module for each view of the page. `ACTIONS` is everything that the page may ask for."""

from mercer.studio.views import data, ideas, playground, solving
from mercer.studio.worker import Action

ACTIONS: dict[str, Action] = {**playground.ACTIONS, **solving.ACTIONS, **ideas.ACTIONS, **data.ACTIONS}
