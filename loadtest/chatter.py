"""A chatter: posts comments when they are due, whether or not earlier ones were answered."""

import asyncio
import itertools
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import httpx
import msgspec

from loadtest.server import Server, refusal_code

_MOST_IN_FLIGHT = 256


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One comment of a plan: `t` seconds after the start. `lang` is what its author writes; it is not sent."""

    t: float
    author: str
    lang: str
    text: str


def read_lines(file: Path) -> list[Line]:
    """The plan in a JSON Lines file, by time. Raises msgspec.DecodeError."""
    decoder = msgspec.json.Decoder(Line)
    return sorted(decoder.decode_lines(file.read_bytes()), key=lambda line: line.t)


class Chatter:
    """Posts comments to one room.

    `on_sent` is told each comment's id and the loop time at which it leaves, `on_refused` the id of one refused.
    """

    def __init__(
        self,
        server: Server,
        room: str,
        *,
        on_sent: Callable[[str, float], None] | None = None,
        on_refused: Callable[[str], None] | None = None,
    ) -> None:
        self._server = server
        self._path = f"/v1/rooms/{room}/comments"
        self._on_sent = on_sent
        self._on_refused = on_refused
        self._run = secrets.token_hex(3)
        self._in_flight = 0
        self.accepted = 0
        self.refused: Counter[str] = Counter()
        """Refusals by code; "unreachable" where no answer came, "behind" where too many were unanswered."""

    async def play(self, lines: Iterable[Line], start: float) -> None:
        """Post each line `t` seconds after loop time `start` and wait for the last answer."""
        loop = asyncio.get_running_loop()
        async with self._server.client() as client, asyncio.TaskGroup() as posts:
            for number, line in zip(itertools.count(1), lines, strict=False):
                await asyncio.sleep(max(0.0, start + line.t - loop.time()))
                if self._in_flight >= _MOST_IN_FLIGHT:
                    self.refused["behind"] += 1
                    continue
                self._in_flight += 1
                posts.create_task(self._post(client, f"{self._run}-{number}", line))

    async def _post(self, client: httpx.AsyncClient, name: str, line: Line) -> None:
        if self._on_sent is not None:
            self._on_sent(name, asyncio.get_running_loop().time())
        body = {"id": name, "author": line.author, "text": line.text, "sent_at_ms": round(time.time() * 1000)}
        try:
            response = await client.post(self._path, json=body)
        except httpx.HTTPError:
            self._refuse(name, "unreachable")
        else:
            if response.status_code == 202:
                self.accepted += 1
            else:
                self._refuse(name, refusal_code(response))
        finally:
            self._in_flight -= 1

    def _refuse(self, name: str, code: str) -> None:
        self.refused[code] += 1
        if self._on_refused is not None:
            self._on_refused(name)
