"""Who may come in: the browser of the person who started the server, and nobody else.

A server on loopback can be reached by every page that the browser shows. So each request has to name the
host by a name that no attacker's domain has (DNS rebinding), has to come from the page itself (other
sites), and has to bring the token of this run (other users of the machine).
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Scripts and styles of the page hold no secret, and modules import each other without a token.
OPEN = "/page/"
# A policy violation, in the words of the websocket protocol.
REFUSED = 1008

_OTHER_RUN = (
    "This address belongs to another run of Mercer Studio. Open the one that `mercer studio` printed. If there is "
    "something behind the #, `mercer studio LINK` opens it, or paste the address into the box under Link there."
)


class Gate:
    """Refuse what the page did not ask for; give every answer its headers.

    Parameters
    ----------
    app : ASGI application
    token : str
        What a request has to bring as ``?token=``.
    hosts : set of str
        Values of the Host header that are this server.
    """

    def __init__(self, app: App, *, token: str, hosts: frozenset[str]) -> None:
        self.app, self.token, self.hosts = app, token, hosts
        self.origins = frozenset(f"http://{host}" for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        reason = self._refusal(scope)
        if reason is None:
            await self.app(scope, receive, self._with_headers(scope, send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": REFUSED, "reason": reason})
        else:
            await self._refuse(self._with_headers(scope, send), reason)

    def _refusal(self, scope: Scope) -> str | None:
        """Why this request is not let in, or None."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host", "") not in self.hosts:
            return "The Host header does not name this server."
        origin = headers.get("origin")
        must_have_origin = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if origin not in self.origins and (origin is not None or must_have_origin):
            return "The request comes from another origin."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "The request comes from another site."
        if scope["path"].startswith(OPEN):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[-1]
        return None if secrets.compare_digest(given.encode(), self.token.encode()) else _OTHER_RUN

    async def _refuse(self, send: Send, reason: str) -> None:
        body = reason.encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_protections(self.hosts)]
            await send(message)

        return send_with_headers


def _protections(hosts: frozenset[str]) -> list[tuple[bytes, bytes]]:
    """Nothing but our own files is loaded, run, framed or sent on, whatever a label contains."""
    sockets = " ".join(f"ws://{host}" for host in sorted(hosts))
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cache-control", b"no-store"),
    ]
