"""One tab: its websocket, its channels of work, and what it keeps."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from mercer.studio.server.messages import pack
from mercer.studio.server.worker import Action, Channel

# Answers that wait for a slow page; a page that does not read them is gone.
MOST_WAITING = 256


class Session:
    """What happens between a tab's opening and its closing.

    Parameters
    ----------
    socket : WebSocket
        Accepted.
    actions : mapping of str to Action
        What may be asked for.
    memory : dict
        What the tab keeps from one request to the next, uploads included.
    """

    def __init__(self, socket: WebSocket, actions: Mapping[str, Action], memory: dict[str, Any]) -> None:
        self._socket, self._actions, self.memory = socket, actions, memory
        self._loop = asyncio.get_running_loop()
        self._outbox: asyncio.Queue[bytes] = asyncio.Queue(MOST_WAITING)
        self._channels: dict[str, Channel] = {}

    async def run(self) -> None:
        """Answer until the tab is closed; then stop its work."""
        sender = asyncio.create_task(self._send_all())
        try:
            while True:
                self._handle(await self._socket.receive_text())
        except (WebSocketDisconnect, KeyError):  # a binary message has no text
            pass
        finally:
            for channel in self._channels.values():
                channel.close()
            sender.cancel()

    @property
    def channels(self) -> list[Channel]:
        return list(self._channels.values())

    def _handle(self, text: str) -> None:
        try:
            request = json.loads(text)
            number, do = request["n"], request["do"]
        except (ValueError, TypeError, KeyError, RecursionError):
            self._put(pack({"n": None, "do": None, "error": "a request must be a JSON object with `n` and `do`"}))
            return
        if do == "stop":
            channel = self._channels.get(str(request.get("what")))
            if channel is not None:
                channel.stop()
        elif not isinstance(do, str) or do not in self._actions:
            self._put(pack({"n": number, "do": str(do), "error": f"there is no request named {do!r}"}))
        else:
            self._channel(do).ask(request)

    def _channel(self, do: str) -> Channel:
        if do not in self._channels:
            self._channels[do] = Channel(do, self._actions[do], self._send, self.memory)
        return self._channels[do]

    def _send(self, frame: bytes) -> None:
        """Called by the channels' threads."""
        try:
            self._loop.call_soon_threadsafe(self._put, frame)
        except RuntimeError:  # the server is shutting down
            return

    def _put(self, frame: bytes) -> None:
        if self._outbox.full():  # newer answers matter more
            self._outbox.get_nowait()
        self._outbox.put_nowait(frame)

    async def _send_all(self) -> None:
        while True:
            frame = await self._outbox.get()
            try:
                await self._socket.send_bytes(frame)
            except (WebSocketDisconnect, RuntimeError):
                return
