"""A server of one's own: a child process on a free loopback port, with a secret that nobody else knows."""

import asyncio
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from loadtest.server import Server, is_ready

_SAMPAN = (sys.executable, "-m", "app.cli.main")
_USUAL_PORT = 8470
_STDERR = 2
_READY_S, _POLL_S, _STOP_S, _TOKEN_S = 300.0, 0.25, 15.0, 30.0


class DemoFailed(Exception):
    """The demo can't go on; the message says why."""


class Node(NamedTuple):
    """A running server as its host sees it, as a viewer with a token that can only read sees it, and its process."""

    host: Server
    viewer: Server
    process: asyncio.subprocess.Process


def pull_models() -> None:
    """Bring the default models, with progress on stderr. Raises DemoFailed."""
    if subprocess.run([*_SAMPAN, "models", "pull"], check=False, stdout=_STDERR).returncode:
        raise DemoFailed("the models could not be brought; see above")


@asynccontextmanager
async def node(room: str) -> AsyncIterator[Node]:
    """A server that is ready, with tokens for `room`; it is ended and awaited on leaving.

    Raises DemoFailed.
    """
    port = _free_port()
    environment = os.environ | {
        "SAMPAN_AUTH_SECRET": secrets.token_urlsafe(36),
        "SAMPAN_SERVER_HOST": "127.0.0.1",
        "SAMPAN_SERVER_PORT": str(port),
    }
    # In a group of its own, so that Ctrl-C reaches us alone and the server ends after its clients.
    process = await asyncio.create_subprocess_exec(
        *_SAMPAN, "serve", env=environment, stdin=subprocess.DEVNULL, process_group=0
    )
    try:
        url = f"http://127.0.0.1:{port}"
        host = Server(url=url, token=await _token(room, "comment,publish,admin", environment))
        viewer = Server(url=url, token=await _token(room, "view", environment))
        await _wait_ready(host, process)
        yield Node(host=host, viewer=viewer, process=process)
    finally:
        await _end(process)


def _free_port() -> int:
    """The usual port if it is free, so that a page left open finds the next run; else any."""
    for port in (_USUAL_PORT, 0):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise DemoFailed("no port is free on 127.0.0.1")


async def _token(room: str, scope: str, environment: dict[str, str]) -> str:
    arguments = ("token", "--room", room, "--scope", scope)
    process = await asyncio.create_subprocess_exec(
        *_SAMPAN, *arguments, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    async with asyncio.timeout(_TOKEN_S):
        said, _ = await process.communicate()
    if process.returncode:
        raise DemoFailed("no token was issued; see above")
    return said.decode().strip()


async def _wait_ready(server: Server, process: asyncio.subprocess.Process) -> None:
    try:
        async with asyncio.timeout(_READY_S), server.client() as client:
            while not await is_ready(client):
                if process.returncode is not None:
                    raise DemoFailed(f"the server ended at its start with code {process.returncode}; see above")
                await asyncio.sleep(_POLL_S)
    except TimeoutError as error:
        raise DemoFailed(f"the server was not ready after {_READY_S:.0f} s") from error


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
