"""Links to what is on a screen: they hold the state itself, and name neither a server nor a run of one."""

import base64
import binascii
import json
import re

from mercer._errors import ParameterError

# The views that a link can open; those of `page/state.js`.
VIEWS = ("play", "solve", "idea", "data")
# Characters; 2,000 points have about 80,000.
LONGEST = 1_000_000

_LINK = re.compile(rf"(?:^|#|^mercer:)((?:{'|'.join(VIEWS)})=([\w-]*))$")


def fragment_of(link: str) -> str:
    """What stands behind the # of the page's address, from a link in any of its forms.

    Parameters
    ----------
    link : str
        ``mercer:play=...`` as the page copies it, an address with ``#play=...``, or ``play=...`` alone.

    Examples
    --------
    >>> from mercer.studio.server.links import fragment_of
    >>> fragment_of("mercer:play=e30"), fragment_of("http://somewhere/playground/#play=e30")
    ('play=e30', 'play=e30')
    """
    found = _LINK.search(link.strip()) if len(link) <= LONGEST else None
    if found is None or not _is_state(found[2]):
        shown = link if len(link) <= 60 else f"{link[:57]}..."
        raise ParameterError(
            f"LINK must be what Link copies in Mercer Studio, such as mercer:play=..., got {shown!r}; "
            "copy the whole of it, in quotation marks if it has a #"
        )
    return found[1]


def _is_state(text: str) -> bool:
    """Whether it is the base64 of a JSON object."""
    try:
        return isinstance(json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))), dict)
    except (binascii.Error, ValueError, RecursionError):
        return False
