"""Files that a tab brings and takes: kept in memory, under names of our own, never by a path.

A tab names itself by a random number that its address does not show, so that a tab that was reloaded finds
its things and no other one does.
"""

import re
import secrets
from collections import OrderedDict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

UPLOAD_LIMIT = 64 * 2**20
# Tabs whose things are kept, and files that one of them may leave.
MOST_DRAWERS = 32
MOST_FILES = 4
_SAFE_TAB = re.compile(r"[A-Za-z0-9_-]{8,64}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Shelf:
    """A drawer for each tab; of too many, the one unused for longest goes, of closed tabs before open ones."""

    def __init__(self) -> None:
        self._drawers: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._open: set[str] = set()

    def enter(self, tab: str) -> str:
        """The name of a tab that has come: the one it had, or a new one if another tab has that now."""
        if tab in self._open or not _SAFE_TAB.fullmatch(tab):
            tab = secrets.token_urlsafe(12)
        self._open.add(tab)
        return tab

    def leave(self, tab: str) -> None:
        """The tab was closed; its drawer waits for it to come back."""
        self._open.discard(tab)

    def drawer(self, tab: str) -> dict[str, Any]:
        """What belongs to a tab; a nameless one has a drawer that is forgotten with it."""
        if not _SAFE_TAB.fullmatch(tab):
            return {}
        self._drawers.setdefault(tab, {})
        self._drawers.move_to_end(tab)
        while len(self._drawers) > MOST_DRAWERS:
            oldest = next(iter(self._drawers))
            del self._drawers[next((each for each in self._drawers if each not in self._open and each != tab), oldest)]
        return self._drawers[tab]


def size_text(size: int) -> str:
    """A size for people: 64 MB."""
    return f"{size / 2**20:.3g} MB" if size >= 2**20 else f"{size / 2**10:.3g} kB"


async def receive_upload(request: Request, shelf: Shelf, limit: int) -> JSONResponse:
    """Keep the body of a request as a file of a tab; refuse it as soon as it is too large."""
    sentence = f"The file is larger than {size_text(limit)}, the most that the studio takes; use `mercer train` for it."
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > limit:
        return JSONResponse({"error": sentence}, 413)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit:
            return JSONResponse({"error": sentence}, 413)
    files = shelf.drawer(request.query_params.get("tab", "")).setdefault("files", OrderedDict())
    key = secrets.token_urlsafe(12)
    files[key] = (request.query_params.get("name", "")[:200], bytes(body))
    while len(files) > MOST_FILES:
        files.popitem(last=False)
    return JSONResponse({"file": key, "size": len(body)})


def send_download(request: Request, shelf: Shelf) -> Response:
    """What the tab has made: a model file or a report, as an attachment that no browser runs."""
    made = shelf.drawer(request.query_params.get("tab", "")).get("made", {})
    found = made.get(request.query_params.get("what", ""))
    if found is None:
        return Response("There is nothing to download yet: train a model first.", 404)
    name, kind, body = found
    disposition = f'attachment; filename="{_UNSAFE.sub("_", name)}"'
    return Response(body, media_type=kind, headers={"content-disposition": disposition})
