"""Delivery behind a real uvicorn on a loopback port, with everything on: tokens, rooms, WebSocket and SSE."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from app.auth import Scope, Tokens
from app.callers import Callers
from app.clock import Clock
from app.delivery.hub import Hub, HubSettings
from app.delivery.reading import Reading
from app.delivery.sse import subtitle_events
from app.delivery.subtitle_socket import SubtitleSocket
from app.delivery.websocket_server import Route, Sockets
from engines.languages import LanguageTag
from pipelines.types import Cue, CueKind, Ledger

SECRET = "a secret of thirty-two characters"
TARGETS = tuple(LanguageTag(tag) for tag in ("en", "vi", "th", "id"))


class DeliveryServer:
    """A hub and its two fronts. `port` is on 127.0.0.1; `token` may view every room."""

    def __init__(self, settings: HubSettings) -> None:
        self.clock = Clock()
        self.hub = Hub(self.clock, settings)
        tokens = Tokens(SECRET)
        self.token = tokens.issue(room="*", scopes=frozenset({Scope.VIEW}), ttl_s=3600)
        front = SubtitleSocket(self.hub, self.clock, tokens.authorise, self.languages)
        route = Route(path="/v1/rooms/{room}/subtitles", check=front.check, serve=front.serve)
        self.sockets = Sockets([route], Callers(["https://allowed.example"], loopback_only=False))
        self.application = FastAPI()
        self.application.add_api_route("/events/{room}", self._events)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port: int = self.listener.getsockname()[1]

    def languages(self, room: str) -> tuple[LanguageTag, ...]:
        """Every room reads the same four languages."""
        self.hub.demand(room)
        return TARGETS

    def url(self, room: str, query: str) -> str:
        """Address of a viewers' socket, token included."""
        return f"ws://127.0.0.1:{self.port}/v1/rooms/{room}/subtitles?token={self.token}&{query}"

    async def _events(self, request: Request, room: str, lang: str) -> StreamingResponse:
        reading = Reading.parse(room, lang, request.headers.get("last-event-id"), self.languages)
        return StreamingResponse(subtitle_events(self.hub, self.clock, reading), media_type="text/event-stream")


@asynccontextmanager
async def delivery_server(settings: HubSettings) -> AsyncIterator[DeliveryServer]:
    """Serve until the block ends; then every connection is closed and every task gone."""
    ours = DeliveryServer(settings)
    config = uvicorn.Config(
        ours.application,
        ws=ours.sockets.protocol,  # type: ignore[arg-type]
        http="httptools",
        log_level="error",
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    web = uvicorn.Server(config)
    async with asyncio.TaskGroup() as tasks:
        fan_out = tasks.create_task(ours.hub.run())
        serving = tasks.create_task(web.serve(sockets=[ours.listener]))
        try:
            yield ours
        finally:
            await ours.sockets.close()
            web.should_exit = True
            await serving
            fan_out.cancel()


def cue(room: str, language: str, number: int, **fields: object) -> Cue:
    """The `number`-th cue of a room: a final comment unless told otherwise."""
    plain: dict[str, object] = {
        "id": f"c{number}",
        "revision": 0,
        "final": True,
        "room": room,
        "kind": CueKind.COMMENT,
        "language": LanguageTag(language),
        "source_language": LanguageTag("zh-Hans"),
        "text": f"text {number}",
        "source_text": f"source {number}",
        "author": "a",
        "stream_start": 0.0,
        "stream_end": 0.0,
        "ledger": Ledger(received=0.0),
    }
    return Cue(**{**plain, **fields})  # type: ignore[arg-type]
