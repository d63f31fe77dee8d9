"""The server of the page: loopback only, a token for each run, files that are known beforehand."""

import asyncio
import mimetypes
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from mercer._errors import MercerError, MissingExtraError, ParameterError

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocket, WebSocketDisconnect
except ImportError as missing:
    raise MissingExtraError("the studio needs starlette and uvicorn: pip install 'mercer[studio]'") from missing

from mercer.studio.server.gate import Gate
from mercer.studio.server.links import fragment_of
from mercer.studio.server.messages import pack
from mercer.studio.server.session import Session
from mercer.studio.server.uploads import UPLOAD_LIMIT, Shelf, receive_upload, send_download
from mercer.studio.server.warm_up import WARM, warm_up

HOST = "127.0.0.1"
PORT = 8765
LAST_PORT = 65535
PAGE = Path(__file__).parents[1] / "page"
# Tabs open at the same time, and bytes of one message from a page.
MOST_TABS = 32
LARGEST_MESSAGE = 2**21


def make_app(
    token: str,
    hosts: frozenset[str],
    *,
    upload_limit: int = UPLOAD_LIMIT,
    on_start: Callable[[], None] | None = None,
) -> Gate:
    """The application: page, websocket, uploads and downloads, behind the gate.

    Parameters
    ----------
    token : str
        What every request but those for scripts and styles has to bring.
    hosts : frozenset of str
        Values of the Host header that are this server.
    upload_limit : int
        Bytes of a file at most.
    on_start : callable, optional
        Called once when the server is up.
    """
    from mercer.studio.views import ACTIONS

    shelf, tabs = Shelf(), set[Session]()
    files = _page_files()

    async def page_file(request: Request) -> Response:
        found = files.get(request.path_params.get("name", "index.html"))
        return Response("There is no such file.", 404) if found is None else Response(found[0], media_type=found[1])

    async def tab(websocket: WebSocket) -> None:
        await websocket.accept()
        if len(tabs) >= MOST_TABS:
            await websocket.close(1013, "too many tabs are open; close one")
            return
        name = shelf.enter(websocket.query_params.get("tab", ""))
        session = Session(websocket, ACTIONS, shelf.drawer(name))
        tabs.add(session)
        news = asyncio.create_task(_tell_when_warm(websocket))
        try:
            await websocket.send_bytes(pack({"do": "hello", "tab": name, "warm": WARM.is_set()}))
            await session.run()
        finally:
            news.cancel()
            tabs.discard(session)
            shelf.leave(name)

    async def upload(request: Request) -> JSONResponse:
        return await receive_upload(request, shelf, upload_limit)

    async def download(request: Request) -> Response:
        return send_download(request, shelf)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        if on_start is not None:
            on_start()
        yield

    routes = [
        Route("/", page_file),
        Route("/page/{name:path}", page_file),
        Route("/upload", upload, methods=["POST"]),
        Route("/download", download),
        WebSocketRoute("/ws", tab),
    ]
    return Gate(Starlette(routes=routes, lifespan=lifespan), token=token, hosts=hosts)


async def _tell_when_warm(websocket: WebSocket) -> None:
    """Tell a tab that came early when nothing has to be compiled any more."""
    if WARM.is_set():
        return
    while not WARM.is_set():
        await asyncio.sleep(0.25)
    with suppress(WebSocketDisconnect, RuntimeError):  # it may have left
        await websocket.send_bytes(pack({"do": "warm"}))


def _page_files() -> dict[str, tuple[bytes, str]]:
    """Every file of the page, read once: no path from outside is ever opened."""
    files = {}
    for path in sorted(PAGE.rglob("*")):
        if path.is_file():
            kind = mimetypes.guess_type(path.name)[0] or "text/plain"
            files[path.relative_to(PAGE).as_posix()] = (path.read_bytes(), kind)
    return files


def names_of(port: int) -> frozenset[str]:
    """The Host headers by which a browser on this machine reaches a port."""
    return frozenset(f"{host}:{port}" for host in (HOST, "localhost"))


def bind(port: int | None) -> socket.socket:
    """A socket on loopback: the port asked for, or the usual one, or if that is taken any free one."""
    if port is not None and not 0 <= port <= LAST_PORT:
        raise ParameterError(f"port must be from 0 to {LAST_PORT}, got {port}")
    wanted = [PORT, 0] if port is None else [port]
    for number in wanted:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, number))
        except OSError as error:
            listener.close()
            if number == wanted[-1]:
                raise MercerError(
                    f"port {number} of {HOST} cannot be used: {error.strerror}; choose another"
                ) from error
        else:
            return listener
    raise AssertionError("the last port either binds or raises")


def serve(
    port: int | None = None,
    *,
    browser: bool = True,
    link: str | None = None,
    announce: Callable[[str], Any] = sys.stdout.write,
) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    port : int, optional
        0 for any free one; 8765 by default, or any if that is taken.
    browser : bool
        Whether to open the page.
    link : str, optional
        What the page shows first, as Link copied it.
    announce : callable
        Told the address, which has the token of this run.
    """
    fragment = "" if link is None else f"#{fragment_of(link)}"
    listener = bind(port)
    number = listener.getsockname()[1]
    token = secrets.token_urlsafe(24)
    address = f"http://{HOST}:{number}/?token={token}{fragment}"

    def begin() -> None:
        threading.Thread(target=warm_up, name="studio-warm-up", daemon=True).start()
        announce(address + "\n")
        if announce is sys.stdout.write:
            sys.stdout.flush()
        if browser:
            webbrowser.open(address)

    app = make_app(token, names_of(number), on_start=begin)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listener])
