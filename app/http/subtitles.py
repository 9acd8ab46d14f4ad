"""GET /v1/rooms/{room}/subtitles as server-sent events, for networks that block WebSocket."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Send
from starlette.types import Scope as Connection

from app.auth import Scope, Tokens
from app.clock import Clock
from app.delivery.hub import Hub
from app.delivery.reading import Reading
from app.delivery.sse import subtitle_events
from app.http.requests import token_of
from app.rooms import Rooms

_PATIENCE_S = 15.0
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class EventStream(StreamingResponse):
    """Server-sent events. A client that takes nothing for 15 s is let go: its place and its language are free again."""

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, headers=_HEADERS, media_type="text/event-stream")
        self._events = events

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Send until the events end or the client has gone; the events are closed in any case."""

        async def in_time(message: Message) -> None:
            async with asyncio.timeout(_PATIENCE_S):
                await send(message)

        async with aclosing(self._events):
            try:
                await super().__call__(scope, receive, in_time)
            except* (TimeoutError, ClientDisconnect):
                pass  # a client that has gone is no fault


def router(rooms: Rooms, tokens: Tokens, hub: Hub, clock: Clock) -> APIRouter:
    """The subtitles' route. A browser that comes back says where it was in Last-Event-ID."""
    routes = APIRouter(prefix="/v1/rooms", tags=["subtitles"])

    @routes.get("/{room}/subtitles")
    async def subtitles(request: Request, room: str) -> StreamingResponse:
        tokens.authorise(token_of(request), room, Scope.VIEW)
        resume = request.headers.get("last-event-id") or request.query_params.get("resume_from")
        reading = Reading.parse(room, request.query_params.get("lang"), resume, lambda name: rooms.get(name).languages)
        hub.ensure_space()
        return EventStream(subtitle_events(hub, clock, reading))

    return routes
