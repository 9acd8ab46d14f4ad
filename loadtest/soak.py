"""`sampan bench soak`: one room on the air for a long time; do waits or memory grow?"""

import asyncio
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from loadtest.broadcaster import Broadcaster, BroadcastError
from loadtest.demo.node import DemoFailed, Node, node, pull_models
from loadtest.demo.speech import SpeechUnavailable, sample
from loadtest.faults import leaves
from loadtest.frames import Cue
from loadtest.percentiles import percentile
from loadtest.server import ServerRefused, create_room
from loadtest.viewer import Viewer, ViewerRefused

_ROOM = "soak"
_LOOK_S = 2.0
_MIB = 2**20
_FAULTS = (DemoFailed, BroadcastError, ServerRefused, SpeechUnavailable, ViewerRefused, OSError)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`source`: what is played again and again, by default the demo's speech. Windows and warm-up are parts of it."""

    source: str | None = None
    minutes: float = 30.0
    lang: str = "zh-Hans"

    @property
    def warm_s(self) -> float:
        """What is left out at the start: models settle and caches fill."""
        return 60.0 * min(2.0, self.minutes / 3)

    @property
    def window_s(self) -> float:
        """How much of the start and of the end is compared."""
        return 60.0 * min(5.0, self.minutes / 3)


class Wait(msgspec.Struct, frozen=True):
    """A finished, translated subtitle: when its speech ended in stream seconds, and how long after that it came."""

    stream_end: float
    seconds: float


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """Waits of a part of the time, in seconds."""

    cues: int
    p50: float | None
    p95: float | None


class SoakReport(msgspec.Struct, frozen=True, kw_only=True):
    """`memory_mib`: the server's resident memory after the warm-up, at its largest since and at the end.

    `slower`: the median of the last window by that of the first. `longest_silence_s` between two subtitles.
    """

    minutes: float
    first: Window
    last: Window
    slower: float | None
    longest_silence_s: float
    memory_mib: tuple[float, float, float]


def report(options: Options, *, as_json: bool) -> int:
    """Run, print what came of it and return the exit status: 1 where it couldn't be run."""
    console = Console(stderr=True)
    try:
        pull_models()
        found = asyncio.run(_Soak(options, options.source or sample().file).run(console))
    except (*_FAULTS, BaseExceptionGroup) as error:
        faults = leaves(error)
        if not all(isinstance(fault, _FAULTS) for fault in faults):
            raise
        for fault in faults:
            console.print(Text(f"soak: {fault}", style="bold red"), soft_wrap=True)
        return 1
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found)).decode() + "\n")
    else:
        Console().print(_table(found))
    return 0


def compare(options: Options, seconds: float, waits: Sequence[Wait], memory: Sequence[float]) -> SoakReport:
    """The report of `seconds` on the air; `memory` in MiB, looked at from the end of the warm-up on."""
    from_s, to_s = options.warm_s, seconds - options.window_s
    first = [wait.seconds for wait in waits if from_s <= wait.stream_end < from_s + options.window_s]
    last = [wait.seconds for wait in waits if wait.stream_end >= to_s]
    ends = [0.0, *sorted(wait.stream_end for wait in waits), seconds]
    return SoakReport(
        minutes=round(seconds / 60, 1),
        first=_window(first),
        last=_window(last),
        slower=round(percentile(last, 0.5) / percentile(first, 0.5), 3) if first and last else None,
        longest_silence_s=round(max(later - earlier for earlier, later in pairwise(ends)), 1),
        memory_mib=(memory[0], max(memory), memory[-1]) if memory else (0.0, 0.0, 0.0),
    )


def _window(waits: Sequence[float]) -> Window:
    if not waits:
        return Window(cues=0, p50=None, p95=None)
    return Window(cues=len(waits), p50=round(percentile(waits, 0.5), 3), p95=round(percentile(waits, 0.95), 3))


class _Soak:
    def __init__(self, options: Options, source: str) -> None:
        self._options = options
        self._source = source
        self._waits: list[Wait] = []  # one a subtitle: some thousands in a day
        self._memory: list[float] = []

    async def run(self, console: Console) -> SoakReport:
        async with node(_ROOM) as there:
            async with there.host.client() as client:
                await create_room(client, _ROOM, ())
            broadcaster = Broadcaster(there.host, _ROOM, self._source, repeat=True)
            async with asyncio.TaskGroup() as tasks:
                around = [
                    tasks.create_task(broadcaster.run()),
                    tasks.create_task(self._watch(Viewer(there.viewer, _ROOM, self._options.lang), broadcaster)),
                ]
                await self._look(there, broadcaster, console)
                for task in around:
                    task.cancel()
        return compare(self._options, broadcaster.seconds, self._waits, self._memory)

    async def _look(self, there: Node, broadcaster: Broadcaster, console: Console) -> None:
        length = 60.0 * self._options.minutes
        with Progress(console=console, transient=True) as progress:
            bar = progress.add_task("on the air", total=length)
            while broadcaster.seconds < length:
                await asyncio.sleep(_LOOK_S)
                progress.update(bar, completed=broadcaster.seconds)
                if broadcaster.seconds >= self._options.warm_s:
                    self._memory.append(_resident_mib(there.process.pid))

    async def _watch(self, viewer: Viewer, broadcaster: Broadcaster) -> None:
        async for received in viewer.frames():
            match received.frame:
                case Cue(final=True, kind="speech", end=end) as cue if cue.translated:
                    sent = broadcaster.clock.when(end)
                    if sent is not None:
                        self._waits.append(Wait(end, received.at - sent))
                case _:
                    pass


def _resident_mib(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return round(pages * 4096 / _MIB, 1)


def _table(found: SoakReport) -> Table:
    table = Table(title=f"{found.minutes} minutes on the air", box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in ("", "subtitles", "p50 (s)", "p95 (s)"):
        table.add_column(column, justify="right")
    for name, window in (("first", found.first), ("last", found.last)):
        cells = ["–" if value is None else f"{value:.2f}" for value in (window.p50, window.p95)]
        table.add_row(name, str(window.cues), *cells)
    slower = "–" if found.slower is None else f"{found.slower:.2f} ×"
    table.caption = (
        f"last by first: {slower}; longest without a subtitle: {found.longest_silence_s} s; resident memory "
        f"{found.memory_mib[0]} → {found.memory_mib[2]} MiB (most {found.memory_mib[1]})"
    )
    return table
