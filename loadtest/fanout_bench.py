"""How many frames a second one server core brings to viewers, how late, and at what memory.

python -m loadtest.fanout_bench --viewers 10000 --rate 5        from a checkout; the server runs as its own process.
The clients are bare asyncio protocols on uvloop in this process, so that they cost little of what is measured.
"""

import argparse
import asyncio
import json
import sys
from array import array
from functools import partial
from typing import cast
from urllib.parse import urlsplit

import uvloop

_AT_ONCE = 50
_HANDSHAKE = (
    "GET {target} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_TEXT = b'"text":"'
_PING = 9


class _Viewer(asyncio.Protocol):
    """Reads unmasked text frames and notes how late each was; the text begins with the loop time of its sending."""

    def __init__(self, url: str, late: "array[float]") -> None:
        _, host, path, query, _ = urlsplit(url)
        self._request = _HANDSHAKE.format(target=f"{path}?{query}", host=host).encode()
        self._late = late
        self._loop = asyncio.get_running_loop()
        self._rest = b""
        self.open: asyncio.Future[None] = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        data = self._rest + data
        start = 0
        if not self.open.done():
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self._rest = data
                return
            if not data.startswith(b"HTTP/1.1 101"):
                raise RuntimeError(data.decode(errors="replace"))
            self.open.set_result(None)
            start = end + 4
        self._rest = data[self._frames(data, start) :]

    def _frames(self, data: bytes, start: int) -> int:
        now = self._loop.time()
        while len(data) - start >= 4:
            size, body = data[start + 1], start + 2
            if size == 126:
                size, body = int.from_bytes(data[start + 2 : start + 4], "big"), start + 4
            if len(data) < body + size:
                break
            if data[start] & 0x0F == _PING:
                self._transport.write(bytes((0x8A, 0x80 | size, 0, 0, 0, 0)) + data[body : body + size])
            elif (place := data.find(_TEXT, body, body + size)) >= 0:
                self._late.append(now - float(data[place + 8 : data.index(b" ", place)]))
            start = body + size
        return start

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.open.done():
            self.open.set_exception(exc or ConnectionError("closed during the handshake"))


async def _connect(urls: list[str], viewers: int, late: "array[float]") -> None:
    async def one(url: str) -> None:
        made = asyncio.get_running_loop().create_connection(
            partial(_Viewer, url, late), "127.0.0.1", urlsplit(url).port or 80
        )
        _, viewer = await made
        await viewer.open

    for first in range(0, viewers, _AT_ONCE):
        last = min(viewers, first + _AT_ONCE)
        await asyncio.gather(*(one(urls[number % len(urls)]) for number in range(first, last)))


async def run(mode: str, viewers: int, rate: float, seconds: float) -> dict[str, float]:
    """One run: `viewers` over 2 rooms and 4 languages, `rate` cues a second in each."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.support.fanout_server",
        mode,
        str(viewers),
        str(rate),
        str(seconds),
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdout is not None
    late = array("d")
    try:
        async with asyncio.timeout(120 + seconds):
            await _connect(json.loads(await server.stdout.readline())["urls"], viewers, late)
            cost = json.loads(await server.stdout.readline())
            await asyncio.sleep(2.0)
    finally:
        server.kill()
        await server.wait()
    ordered = sorted(late)
    return {
        "viewers": viewers,
        "frames_s": round(len(late) / cost["wall_s"]),
        "frames_missing": cost["frames"] - len(late),
        "server_cores": round(cost["cpu_s"] / cost["wall_s"], 3),
        "frames_s_per_core": round(cost["frames"] / cost["cpu_s"]),
        "p50_ms": round(ordered[len(ordered) // 2] * 1000, 1),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 1),
        "rss_kib_per_viewer": cost["rss_kib_per_viewer"],
    }


def main() -> None:
    """Read the arguments, run, print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=("product", "asgi"), default="product")
    parser.add_argument("--viewers", type=int, default=2_000)
    parser.add_argument("--rate", type=float, default=5.0, help="cues a second in each room and language")
    parser.add_argument("--seconds", type=float, default=8.0)
    asked = parser.parse_args()
    print(json.dumps(uvloop.run(run(asked.mode, asked.viewers, asked.rate, asked.seconds))))  # noqa: T201


if __name__ == "__main__":
    main()
