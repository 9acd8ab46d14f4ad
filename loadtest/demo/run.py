"""`make demo`: a server, a room, a live broadcast with its chat, and what one viewer sees of it."""

import asyncio
import signal
from contextlib import suppress
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from loadtest.broadcaster import Broadcaster, BroadcastError
from loadtest.chatter import Chatter, read_lines
from loadtest.demo.board import Board
from loadtest.demo.measure import Edges, Measure
from loadtest.demo.node import DemoFailed, Node, node, pull_models
from loadtest.demo.plan import Plan, input_plan, sample_plan
from loadtest.demo.speech import SpeechUnavailable, sample
from loadtest.demo.summary import counts, summarise, table, write_json
from loadtest.faults import leaves
from loadtest.frames import Cue, Gap, Retract
from loadtest.server import Server, ServerRefused, create_room
from loadtest.viewer import Viewer, ViewerRefused

_ROOM = "demo"
_COMMENTS = Path(__file__).with_name("comments.jsonl")
_LAST_CUE_S = 20.0
_DOORS_S = 4.0  # the room is open for so long before anybody writes: a language just opened is being made ready
_FAULTS = (DemoFailed, BroadcastError, ServerRefused, SpeechUnavailable, ViewerRefused)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`source`: a file, URL or "mic" instead of the sample. `once`: play to the end. `json`: where the summary goes."""

    source: str | None = None
    once: bool = False
    lang: str = "zh-Hans"
    json: Path | None = None


class _Show(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    sources: tuple[str, ...]
    plan: Plan
    edges: Edges


def run(options: Options) -> int:
    """Play the demo and return the exit status: 0 when it was seen to work or was stopped by Ctrl-C."""
    console = Console()
    demo: _Demo | None = None
    stopped = False
    try:
        pull_models()
        demo = _Demo(options, _prepare(options, console), console)
        asyncio.run(demo.play())
    except KeyboardInterrupt:
        stopped = True
    except (*_FAULTS, BaseExceptionGroup) as error:
        faults = leaves(error)
        if not all(isinstance(fault, _FAULTS) for fault in faults):
            raise
        for fault in faults:
            console.print(Text(f"demo: {fault}", style="bold red"), soft_wrap=True)
        return 1
    if demo is not None:
        demo.report()
    seen = demo is not None and demo.measure.translated > 0
    if options.once and not stopped and not seen:
        console.print(Text("demo: no translated cue reached the viewer", style="bold red"))
        return 1
    return 0


def _prepare(options: Options, console: Console) -> _Show:
    lines = read_lines(_COMMENTS)
    if options.source is not None:
        plan = input_plan(lines, once=options.once)
        return _Show(source=options.source, sources=(), plan=plan, edges=Edges((), 1.0))
    with console.status("The host learns the script…"):
        spoken = sample()
    plan = sample_plan(lines, spoken.seconds, once=options.once)
    return _Show(source=spoken.file, sources=("en",), plan=plan, edges=Edges(spoken.sentences, spoken.seconds))


class _Demo:
    def __init__(self, options: Options, show: _Show, console: Console) -> None:
        self._options = options
        self._show = show
        self._console = console
        self._broadcaster: Broadcaster | None = None
        self._chatter: Chatter | None = None
        self._news = asyncio.Event()
        self.measure = Measure(show.edges, self._heard_at)

    def _heard_at(self, second: float) -> float | None:
        return None if self._broadcaster is None else self._broadcaster.clock.when(second)

    async def play(self) -> None:
        """Everything from the server's start to its end."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, signal.raise_signal, signal.SIGINT)
        self._console.print("[dim]The server starts and warms its models…[/]")
        async with node(_ROOM) as there:
            async with there.host.client() as client:
                await create_room(client, _ROOM, self._show.sources)
            self._invite(there.viewer.page_url(_ROOM, self._options.lang))
            with Board(self._console, asyncio.get_running_loop().time()) as board:
                await self._until_over(there, board)

    def _invite(self, url: str) -> None:
        """The page's address, on a line of its own that no box breaks, so that it can be clicked or copied."""
        self._console.rule("[bold]Open this page in a browser", style="cyan")
        self._console.print(Text(url, style=f"bold cyan link {url}"), soft_wrap=True)
        self._console.rule(style="cyan")

    async def _until_over(self, there: Node, board: Board) -> None:
        """Watch until the show is over; a server that dies ends it too."""
        async with asyncio.TaskGroup() as watching:
            viewer = watching.create_task(self._watch(there.viewer, board))
            guard = watching.create_task(_guard(there.process))
            await self._perform(there.host)
            await self._last_cues()
            viewer.cancel()
            guard.cancel()

    async def _perform(self, server: Server) -> None:
        await asyncio.sleep(_DOORS_S)
        plan, start = self._show.plan, asyncio.get_running_loop().time()
        self._broadcaster = Broadcaster(server, _ROOM, self._show.source, repeat=not self._options.once)
        self._chatter = Chatter(server, _ROOM, on_sent=self._comment_sent, on_refused=self.measure.comment_refused)
        async with asyncio.TaskGroup() as acts:
            chat = acts.create_task(self._chatter.play(plan.comments(), start))
            await asyncio.sleep(plan.speech_at)
            await self._broadcaster.run()
            if self._options.source is not None:  # the chat goes with the picture: when that ends, so does it
                chat.cancel()

    def _comment_sent(self, name: str, at: float) -> None:
        alone = self._broadcaster is None or self._broadcaster.seconds == 0.0
        self.measure.comment_sent(name, at, alone=alone)

    async def _last_cues(self) -> None:
        """Wait until nothing is awaited any more, at most 20 s."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_CUE_S):
                while self.measure.waiting:
                    self._news.clear()
                    await self._news.wait()

    async def _watch(self, server: Server, board: Board) -> None:
        async for received in Viewer(server, _ROOM, self._options.lang).frames():
            match received.frame:
                case Cue() as cue:
                    board.cue(cue, received.at, self.measure.cue(cue, received.at).shown)
                case Retract(id=name):
                    self.measure.retracted(name)
                case Gap():
                    board.note("some cues were missed")
                case _:
                    pass
            self._news.set()

    def report(self) -> None:
        """The summary, on the terminal and where asked for as JSON."""
        refused = dict(self._chatter.refused) if self._chatter is not None else {}
        summary = summarise(self.measure, self._options.lang, refused)
        self._console.print(table(summary))
        self._console.print(counts(summary), highlight=False, soft_wrap=True)
        if self._options.json is not None:
            write_json(summary, self._options.json)


async def _guard(process: asyncio.subprocess.Process) -> None:
    raise DemoFailed(f"the server ended with code {await process.wait()}; see above")
