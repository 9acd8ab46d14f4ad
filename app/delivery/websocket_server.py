"""WebSocket connections on the HTTP server's own port: routes, handshake, refusals, closing.

uvicorn hands an upgrade request to `Sockets.protocol`, and from there on the `websockets` library speaks with the
client: without the task and the queue per message that ASGI costs, and with its back-pressure.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from websockets.asyncio.server import Server, ServerConnection
from websockets.datastructures import Headers, MultipleValuesError
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol

from app.auth import bearer
from app.callers import Callers
from app.delivery.reading import error_frame
from app.errors import ServiceError, problem, problem_headers
from app.supervise import supervise
from app.wire import encode

KIB = 1024
HANDSHAKE_S = 10.0
CLOSE_S = 5.0  # for the client to answer our close; then the connection is cut
PING_S = 20.0
WRITE_BUFFER_BYTES = 64 * KIB
MOST_UNREAD_BYTES = 512 * KIB


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What a client asked for: the path's named parts, the query, and its token if it showed one."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    token: str | None


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """What serves a path such as "/v1/rooms/{room}/subtitles".

    `check` runs before the handshake is answered and raises ServiceError to refuse; `serve` lasts as long as the
    connection and may raise ServiceError or ConnectionClosed. `max_bytes` bounds one message of the client.
    """

    path: str
    check: Callable[[Call], None]
    serve: Callable[[ServerConnection, Call], Awaitable[None]]
    max_bytes: int = 64 * KIB


class _Connection(ServerConnection):
    admitted: tuple[Route, Call]  # set by the handshake

    def data_received(self, data: bytes) -> None:
        """Every ping is answered at once, so a client that pings and never reads would fill our memory: cut it off."""
        super().data_received(data)
        if self.transport.get_write_buffer_size() > MOST_UNREAD_BYTES:
            self.transport.abort()


class _Port(Server):
    """Stands for uvicorn's listening socket, which is not ours to close."""

    def __init__(self, handler: Callable[[ServerConnection], Any]) -> None:
        super().__init__(self._no_socket, handler)
        self.closing = False

    def is_serving(self) -> bool:
        return not self.closing

    async def _no_socket(self) -> asyncio.Server:
        raise RuntimeError("the HTTP server listens")


class Sockets:
    """Serves WebSocket routes behind uvicorn: `uvicorn.Config(ws=sockets.protocol)`. To be made inside the loop."""

    def __init__(self, routes: Sequence[Route], callers: Callers, *, ping_s: float = PING_S) -> None:
        self._routes = [(_pattern(route.path), route) for route in routes]
        self._callers = callers
        self._ping_s = ping_s
        self._port = _Port(self._run)
        self._open: set[ServerConnection] = set()

    def protocol(self, **_: object) -> asyncio.Protocol:
        """A connection's protocol, as uvicorn asks for one for each upgrade request."""
        return _Connection(
            ServerProtocol(max_size=64 * KIB),
            self._port,
            ping_interval=self._ping_s,
            ping_timeout=self._ping_s,
            close_timeout=CLOSE_S,
            max_queue=4,
            write_limit=WRITE_BUFFER_BYTES,
        )

    async def close(self, code: int = 1001, reason: str = "going away") -> None:
        """Refuse new connections, close all others and wait for them, at most 5 seconds. Call before uvicorn ends."""
        self._port.closing = True
        async with asyncio.TaskGroup() as closing:
            for connection in self._open:
                closing.create_task(connection.close(code, reason))
        if self._port.handler_tasks:
            await asyncio.wait(self._port.handler_tasks, timeout=CLOSE_S)

    async def _run(self, connection: ServerConnection) -> None:
        """The one task of a connection, from the handshake to its end."""
        assert isinstance(connection, _Connection)
        try:
            with suppress(TimeoutError, ConnectionClosed, OSError):
                async with asyncio.timeout(HANDSHAKE_S):
                    await connection.handshake(self._admit, server_header=None)
                if connection.protocol.state is State.OPEN:
                    await self._serve(connection)
        finally:
            connection.transport.abort()
            self._open.discard(connection)
            task = asyncio.current_task()
            assert task is not None
            self._port.handler_tasks.discard(task)

    async def _serve(self, connection: _Connection) -> None:
        route, call = connection.admitted
        self._open.add(connection)
        connection.start_keepalive()

        async def serve() -> None:
            try:
                await route.serve(connection, call)
            except ServiceError as error:
                await refuse(connection, error)
            except ConnectionClosed:
                return

        sound = await supervise("socket", serve, restarts=0, fields={"path": route.path})
        await connection.close(1000 if sound else 1011)

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        assert isinstance(connection, _Connection)
        try:
            connection.admitted = route, call = self._find(request)
            host = request.headers.get("Host")
            self._callers.check_host(host)
            self._callers.check_origin(request.headers.get("Origin"), host)
            route.check(call)
        except ServiceError as error:
            return _refusal(error)
        except (ValueError, MultipleValuesError):
            return _refusal(
                ServiceError("bad_request", "the path or a header can't be read", hint="see docs/protocol.md")
            )
        connection.protocol.max_message_size = route.max_bytes
        return None

    def _find(self, request: Request) -> tuple[Route, Call]:
        _, _, path, query, _ = urlsplit(request.path)
        for pattern, route in self._routes:
            if found := pattern.fullmatch(path):
                asked = dict(parse_qsl(query))
                return route, Call(
                    path={name: unquote(part) for name, part in found.groupdict().items()},
                    query=asked,
                    token=bearer(request.headers.get("Authorization")) or asked.get("token"),
                )
        raise ServiceError("not_found", "there is no socket at this path", hint="see docs/protocol.md")


async def refuse(connection: ServerConnection, error: ServiceError) -> None:
    """Tell the client why, then close with the error's code."""
    with suppress(ConnectionClosed):
        await connection.send(encode(error_frame(error)))
    async with asyncio.TaskGroup() as closing:
        closing.create_task(connection.close(error.close_code, error.code))
        with suppress(ConnectionClosed):
            async for _ in connection:
                pass  # the client's answer comes behind what it had sent before


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))


def _refusal(error: ServiceError) -> Response:
    body = problem(error)
    headers = Headers(problem_headers(error))
    headers["Connection"] = "close"
    headers["Content-Length"] = str(len(body))
    return Response(error.status, HTTPStatus(error.status).phrase, headers, body)
