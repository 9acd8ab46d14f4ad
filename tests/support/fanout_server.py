"""The server side of loadtest/fanout_bench.py: waits for its viewers, publishes at a rate, reports what it cost.

python -m tests.support.fanout_server product 10000 5 8     (or: asgi, a FastAPI send_text loop, to compare with)
Prints JSON lines: {"urls": […]} when it listens, then {"cpu_s", "wall_s", "frames", "rss_kib_per_viewer"}.
"""

import asyncio
import contextlib
import json
import resource
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import uvicorn
import uvloop
from fastapi import FastAPI, WebSocket, WebSocketDisconnect

from app.delivery.hub import HubSettings
from tests.support.delivery_server import TARGETS, cue, delivery_server

ROOMS = ("one", "two")
TEXT = "x" * 60

Publish = Callable[[str, str, int], Awaitable[None]]


def rss_kib() -> int:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


@contextlib.asynccontextmanager
async def product() -> AsyncIterator[tuple[list[str], Callable[[], int], Publish]]:
    """Our delivery."""
    async with delivery_server(HubSettings(max_viewers=30_000)) as server:
        for room in ROOMS:
            server.hub.open(room)

        async def publish(room: str, language: str, number: int) -> None:
            text = f"{asyncio.get_running_loop().time():.6f} {TEXT}"
            server.hub.publish(cue(room, language, number, text=text, source_text=TEXT))

        yield (
            [server.url(room, f"lang={tag}") for room in ROOMS for tag in TARGETS],
            lambda: server.hub.viewers,
            publish,
        )


@contextlib.asynccontextmanager
async def asgi() -> AsyncIterator[tuple[list[str], Callable[[], int], Publish]]:
    """What FastAPI's documentation shows: a set of sockets and `await send_text` for each."""
    viewers: set[WebSocket] = set()
    application = FastAPI()

    @application.websocket("/{room}/{lang}")
    async def read(socket: WebSocket, room: str, lang: str) -> None:
        await socket.accept()
        viewers.add(socket)
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                await socket.receive_text()
        viewers.discard(socket)

    async def publish(room: str, language: str, number: int) -> None:
        body = f'{{"text":"{asyncio.get_running_loop().time():.6f} {TEXT * 5}"}}'
        for viewer in list(viewers):
            if viewer.path_params == {"room": room, "lang": language}:
                await viewer.send_text(body)

    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    port = listener.getsockname()[1]
    web = uvicorn.Server(
        uvicorn.Config(application, ws="websockets-sansio", log_level="error", ws_per_message_deflate=False)
    )
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(web.serve(sockets=[listener]))
        yield [f"ws://127.0.0.1:{port}/{r}/{tag}" for r in ROOMS for tag in TARGETS], lambda: len(viewers), publish
        web.should_exit = True


async def main(mode: str, viewers: int, rate: float, seconds: float) -> None:
    """Run once."""
    async with (product if mode == "product" else asgi)() as (urls, connected, publish):
        before = rss_kib()
        print(json.dumps({"urls": urls}), flush=True)
        while connected() < viewers:  # noqa: ASYNC110 - not worth an event
            await asyncio.sleep(0.2)
        await asyncio.sleep(2.0)
        per_viewer = (rss_kib() - before) / viewers
        loop = asyncio.get_running_loop()
        cpu, began = time.process_time(), loop.time()
        for number in range(int(rate * seconds)):
            # channels publish at moments of their own, spread over the interval
            for place, (room, tag) in enumerate((room, tag) for room in ROOMS for tag in TARGETS):
                due = began + (number + place / 8) / rate
                await asyncio.sleep(max(0.0, due - loop.time()))
                await publish(room, tag, number)
        await asyncio.sleep(max(0.0, began + seconds - loop.time()))
        used, took = time.process_time() - cpu, loop.time() - began
        print(
            json.dumps(
                {
                    "cpu_s": round(used, 3),
                    "wall_s": round(took, 3),
                    "frames": int(rate * seconds) * viewers,
                    "rss_kib_per_viewer": round(per_viewer, 1),
                }
            ),
            flush=True,
        )
        await asyncio.sleep(3.0)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])))
