"""Node: everything that exists in one process, built in order and closed in reverse. The composition root."""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path

import msgspec
import structlog
import uvicorn
from websockets.asyncio.server import ServerConnection

from app.admission import Admission
from app.auth import Scope, Tokens
from app.callers import Callers
from app.clock import Clock
from app.delivery.hub import Hub, HubSettings
from app.delivery.subtitle_socket import SubtitleSocket
from app.delivery.websocket_server import Call, Route, Sockets
from app.http.application import Resources, build
from app.http.rooms import room_settings
from app.ingest.audio_socket import AUDIO_BYTES, take_audio
from app.models import (
    RecognitionEngine,
    TranslationEngine,
    recognition_engine,
    translation_engine,
    translation_models,
)
from app.rooms import Rooms
from app.settings import RoomSection, Settings, SettingsError
from app.wire import RoomBody
from engines.batching.batcher import Batcher
from engines.batching.cache import ResultCache
from engines.cores import Cores
from engines.errors import EngineFault
from engines.lid.text_language import TextLanguages
from engines.mt.routes import Router, Scores
from engines.mt.types import Translation, TranslationRequest
from engines.store.library import Library
from engines.vad.silero import SileroVAD
from pipelines.comments.slang import Slang
from pipelines.demand import Demand
from pipelines.room import RoomParts, RoomPipeline
from pipelines.translate.glossary import Glossary, GlossaryError, Shelf, read_glossary
from pipelines.types import Cue, RoomSettings

log = structlog.get_logger()


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """The models of a process; made before the loop runs, since loading blocks."""

    mt: dict[str, TranslationEngine]
    scores: dict[str, Scores]
    asr: RecognitionEngine
    voice: SileroVAD
    languages: TextLanguages
    slang: Slang
    glossary: Glossary


def make_models(library: Library, settings: Settings) -> Models:
    """Everything that has to be found on disk. Raises StoreFault, BadModelFile, SettingsError."""
    cores = Cores(settings.models.cores or len(os.sched_getaffinity(0)))
    translating = translation_models(library, settings.models)
    return Models(
        mt={model.name: translation_engine(library, model, settings.models, cores) for model in translating},
        scores={model.name: model.scores for model in translating},
        asr=recognition_engine(library, settings.models, cores),
        voice=SileroVAD(),
        languages=TextLanguages(),
        slang=Slang.load(),
        glossary=_glossary(settings.server.glossary),
    )


class Node:
    """One process of the service. `serve` runs it until `stop` is called."""

    def __init__(self, settings: Settings, models: Models, listening: socket.socket) -> None:
        """`listening` is bound already; the node closes it."""
        self._settings = settings
        self._models = models
        self._listening = listening
        self._missing: str | None = "models are being loaded"
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Ask `serve` to end in good order."""
        self._stopping.set()

    async def serve(self, ready: Callable[[], None]) -> None:
        """Build, run and close. `ready` is called once models are warm. Raises EngineFault in a group."""
        settings, models = self._settings, self._models
        clock, tokens = Clock(), Tokens(settings.auth.secret)
        hub = Hub(clock, HubSettings(max_viewers=settings.server.max_viewers, reading=settings.reading))
        async with AsyncExitStack() as stack:
            for engine in models.mt.values():
                stack.push_async_callback(engine.close)
            stack.push_async_callback(models.asr.close)
            batchers = {
                name: await stack.enter_async_context(self._batcher(engine)) for name, engine in models.mt.items()
            }
            mt = Router(batchers, models.scores)
            asr = await stack.enter_async_context(Batcher(models.asr, settings.asr_batching, stage="asr"))
            glossary = Shelf("node", models.glossary)
            parts = RoomParts(
                voice=models.voice,
                recognise=asr,
                translate=mt,
                languages=models.languages,
                slang=models.slang,
                glossary=glossary,
                repeats=settings.repeats,
                speech=settings.speech,
                translator=settings.translator,
            )

            def pipeline(room: RoomSettings, demand: Demand, publish: Callable[[Cue], None]) -> RoomPipeline:
                return RoomPipeline(room, parts, demand, publish)

            admission = Admission(
                lambda: asr.pace.mean_s,
                concurrency=models.asr.capacity.concurrency,
                interval_s=settings.speech.recognition.partial_interval_s,
                most=settings.server.max_live_rooms,
            )
            rooms = await stack.enter_async_context(Rooms(hub, pipeline, admission, settings.server.max_rooms))
            for section in settings.rooms:
                rooms.create(_configured(section))
            callers = Callers(settings.server.origins, loopback_only=not tokens.required)
            sockets = Sockets(_routes(hub, clock, tokens, rooms), callers)
            resources = Resources(
                rooms=rooms,
                admission=admission,
                glossary=glossary,
                hub=hub,
                tokens=tokens,
                clock=clock,
                ready=lambda: self._missing,
                origins=settings.server.origins,
                callers=callers,
            )
            await self._run(resources, sockets, ready)

    def _batcher(self, engine: TranslationEngine) -> Batcher[TranslationRequest, Translation]:
        cache: ResultCache[TranslationRequest, Translation] = ResultCache(
            lambda row: row.question if row.text else None
        )
        return Batcher(
            engine,
            self._settings.mt_batching,
            cache=cache,
            stage="mt",
            label=lambda row: row.pair,
            tokens=lambda result: result.tokens,
        )

    async def _run(self, resources: Resources, sockets: Sockets, ready: Callable[[], None]) -> None:
        server = _HTTPServer(
            uvicorn.Config(
                build(resources),
                ws=sockets.protocol,  # type: ignore[arg-type]  # any callable that makes a protocol serves
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=3,
            )
        )
        async with asyncio.TaskGroup() as tasks:
            fan_out = tasks.create_task(resources.hub.run())
            serving = tasks.create_task(server.serve(sockets=[self._listening]))
            warming = tasks.create_task(self._warm(ready))
            await self._stopping.wait()
            log.info("stopping")
            warming.cancel()
            await resources.rooms.stop()
            await sockets.close()
            for room in resources.rooms.all():
                resources.hub.close(room.name)  # ends the event streams, which uvicorn would wait for
            server.should_exit = True
            await serving
            fan_out.cancel()

    async def _warm(self, ready: Callable[[], None]) -> None:
        first, *others = self._models.mt.items()
        await first[1].warm()
        for name, engine in others:
            try:
                await engine.warm()
            except EngineFault as fault:  # the general model takes its pairs over
                log.warning("model_unavailable", model=name, fault=type(fault).__name__, hint=fault.hint)
        await self._models.asr.warm()
        self._missing = None
        ready()


class _HTTPServer(uvicorn.Server):
    """Leaves signals to the process: the node stops rooms and viewers first."""

    def capture_signals(self) -> nullcontext[None]:  # type: ignore[override]
        return nullcontext()


def listen(host: str, port: int) -> socket.socket:
    """A bound TCP socket. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


def _routes(hub: Hub, clock: Clock, tokens: Tokens, rooms: Rooms) -> list[Route]:
    subtitles = SubtitleSocket(hub, clock, tokens.authorise, lambda name: rooms.get(name).languages)

    def may_publish(call: Call) -> None:
        tokens.authorise(call.token, call.path["room"], Scope.PUBLISH)
        rooms.get(call.path["room"])

    async def audio(connection: ServerConnection, call: Call) -> None:
        await take_audio(connection, rooms.get(call.path["room"]))

    return [
        Route(path="/v1/rooms/{room}/subtitles", check=subtitles.check, serve=subtitles.serve),
        Route(path="/v1/rooms/{room}/audio", check=may_publish, serve=audio, max_bytes=AUDIO_BYTES),
    ]


def _glossary(file: str | None) -> Glossary:
    if file is None:
        return Glossary()
    try:
        return read_glossary(Path(file).expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, GlossaryError) as error:
        raise SettingsError([f"server.glossary: {file}: {error}"]) from error


def _configured(section: RoomSection) -> RoomSettings:
    return room_settings(msgspec.convert(msgspec.to_builtins(section), RoomBody))
