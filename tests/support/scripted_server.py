"""A server that says what a test tells it to: the public protocol without models, for clients and the page."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

_STATIC = Path(__file__).parents[2] / "web" / "static"
_LANGUAGES = {"en": "English", "zh-Hans": "简体中文", "th": "ไทย", "vi": "Tiếng Việt", "km": "ខ្មែរ"}
_CSP = "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; base-uri 'none'; object-src 'none'"


class ScriptedServer:
    """What it was sent is in `comments`, `audio` and `joins`; what readers get comes from `say`."""

    epoch = "e1"

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.audio = bytearray()
        self.audio_start: dict[str, Any] = {}
        self.joins: list[tuple[str, dict[str, str]]] = []  # ("ws" or "sse", query)
        self.sockets_blocked = False
        self.audio_refusal: dict[str, Any] | None = None
        self.comment_status = 202
        self.url = ""
        self._said: list[dict[str, Any]] = []
        self._readers: dict[asyncio.Queue[dict[str, Any] | None], str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def say(self, **frame: Any) -> None:
        """Send a frame with the next seq to the readers of its language (to all where it has none)."""
        self._call(self._say, frame)

    def cue(self, name: str, lang: str, text: str, source_text: str, **fields: Any) -> None:
        """Send a final cue; `fields` change it."""
        frame = {"id": name, "lang": lang, "text": text, "source_text": source_text, "revision": 0, "final": True}
        usual = {"kind": "speech", "source_lang": "en", "ledger": {"received": round(time.time() * 1000) - 400}}
        self.say(type="cue", **(frame | usual | fields))

    def drop(self) -> None:
        """Cut every reader off."""
        self._call(lambda: [queue.put_nowait(None) for queue in self._readers])

    def _call(self, act: Any, *arguments: Any) -> None:
        done = threading.Event()
        assert self._loop is not None
        self._loop.call_soon_threadsafe(lambda: (act(*arguments), done.set()))
        assert done.wait(5)

    def _say(self, frame: dict[str, Any]) -> None:
        numbered = {"seq": len(self._said) + 1, **frame}
        self._said.append(numbered)
        for queue, lang in self._readers.items():
            if frame.get("lang", lang) == lang:
                queue.put_nowait(numbered)

    async def _frames(self, kind: str, query: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
        self.joins.append((kind, query))
        lang, queue = query["lang"], asyncio.Queue[dict[str, Any] | None](256)
        epoch, _, seq = query.get("resume_from", "").partition(":")
        missed = self._said[int(seq) :] if epoch == self.epoch else []
        self._readers[queue] = lang
        try:
            yield self._hello(lang)
            for frame in missed:
                if frame.get("lang", lang) == lang:
                    yield frame
            while (frame := await queue.get()) is not None:
                yield frame
        finally:
            del self._readers[queue]

    def _hello(self, lang: str) -> dict[str, Any]:
        names = [{"lang": tag, "name": name} for tag, name in _LANGUAGES.items()]
        about = {"protocol": 1, "room": "demo", "lang": lang, "epoch": self.epoch, "seq": len(self._said)}
        speed = {"characters_per_s": 17, "least_s": 0.83}
        now = round(time.time() * 1000)
        return {"type": "hello", **about, "server_time_ms": now, "languages": names, "reading": speed}

    async def subtitles_socket(self, socket: WebSocket) -> None:
        """WebSocket /v1/rooms/{room}/subtitles."""
        query = dict(socket.query_params)
        if self.sockets_blocked or _refusal(socket.path_params["room"], query):
            self.joins.append(("blocked", query))
            await socket.close()
            return
        await socket.accept()
        async with asyncio.TaskGroup() as both:
            sending = both.create_task(self._send(socket, query))
            await _answer_pings(socket)
            sending.cancel()

    async def _send(self, socket: WebSocket, query: dict[str, str]) -> None:
        with suppress(WebSocketDisconnect):
            async for frame in self._frames("ws", query):
                await socket.send_json(frame)
            await socket.close(4408)

    async def subtitle_events(self, request: Request) -> Response:
        """The SSE twin."""
        query = dict(request.query_params)
        if code := _refusal(request.path_params["room"], query):
            return JSONResponse({"code": code, "detail": code, "hint": "ask again"}, 404)

        async def body() -> AsyncIterator[str]:
            async for frame in self._frames("sse", query):
                yield f"id: {self.epoch}:{frame['seq']}\ndata: {json.dumps(frame)}\n\n"

        return StreamingResponse(body(), media_type="text/event-stream")

    async def audio_socket(self, socket: WebSocket) -> None:
        """WebSocket /v1/rooms/{room}/audio."""
        await socket.accept()
        self.audio_start = await socket.receive_json()
        if self.audio_refusal is not None:
            await socket.send_json({"type": "error", **self.audio_refusal})
            await socket.close(4504)
            return
        await socket.send_json({"type": "audio.ready", "room": socket.path_params["room"]})
        while (message := await socket.receive()).get("bytes") is not None:
            self.audio += message["bytes"]
        if message.get("text") is not None:
            await socket.send_json({"type": "audio.ended", "seconds": len(self.audio) / 32_000})
            await socket.close()

    async def comment(self, request: Request) -> Response:
        """POST /v1/rooms/{room}/comments."""
        body = await request.json()
        self.comments.append(body)
        if self.comment_status == 202:
            return JSONResponse({"id": body["id"]}, 202)
        return JSONResponse({"code": "busy", "detail": "too much", "hint": "later"}, self.comment_status)

    def application(self) -> Starlette:
        """The routes."""
        room = "/v1/rooms/{room}"
        return Starlette(
            routes=[
                WebSocketRoute(f"{room}/subtitles", self.subtitles_socket),
                WebSocketRoute(f"{room}/audio", self.audio_socket),
                Route(f"{room}/subtitles", self.subtitle_events),
                Route(f"{room}/comments", self.comment, methods=["POST"]),
                Route("/r/{room}", _page),
                Mount("/static", StaticFiles(directory=_STATIC)),
            ]
        )


async def _page(_: Request) -> Response:
    return FileResponse(_STATIC / "room.html", headers={"content-security-policy": _CSP})


def _refusal(room: str, query: dict[str, str]) -> str | None:
    if room != "demo":
        return "unknown_room"
    return None if query.get("lang") in _LANGUAGES else "unknown_language"


async def _answer_pings(socket: WebSocket) -> None:
    """Until the client goes."""
    with suppress(WebSocketDisconnect):
        while True:
            ping = await socket.receive_json()
            now = time.time() * 1000
            await socket.send_json({"type": "pong", "client_time_ms": ping["client_time_ms"], "server_time_ms": now})


class _Server(uvicorn.Server):
    """Tells the script's thread when it listens."""

    def __init__(self, config: uvicorn.Config, script: ScriptedServer) -> None:
        super().__init__(config)
        self._script = script
        self.listening = threading.Event()

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        self._script._loop = asyncio.get_running_loop()
        self.listening.set()


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """A scripted server on a free loopback port, in a thread of its own."""
    script = ScriptedServer()
    config = uvicorn.Config(
        script.application(), port=0, ws="websockets-sansio", log_config=None, timeout_graceful_shutdown=1
    )
    server = _Server(config, script)
    thread = threading.Thread(target=server.run, name="scripted-server")
    thread.start()
    assert server.listening.wait(10)
    script.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield script
    finally:
        script.drop()
        server.should_exit = True
        thread.join(10)
