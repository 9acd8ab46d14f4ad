"""`sampan bench speech`: plays recordings into a server in real time and reports what one reader of each waited for."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.text import Text

from loadtest.broadcaster import BroadcastError
from loadtest.demo.node import DemoFailed, node, pull_models
from loadtest.faults import leaves
from loadtest.server import Server, ServerRefused
from loadtest.speech.clips import Clip, ClipsUnusable, read_clips
from loadtest.speech.log import log_lines, write_log
from loadtest.speech.play import Played, There, cpu_of, play
from loadtest.speech.report import Report, report_of, summarise
from loadtest.speech.table import show
from loadtest.speech.texts import grow
from loadtest.viewer import ViewerRefused

_FAULTS = (ClipsUnusable, DemoFailed, BroadcastError, ServerRefused, ViewerRefused, OSError, ImportError, TimeoutError)
_CHINESE = ("zh-Hans", "zh-Hant", "zh-Hant-HK", "yue")


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`lanes`: recordings played at once. `server` None starts one of our own; else its tokens are for all rooms."""

    data: Path
    only: str = "*"
    lang: str | None = None
    lanes: int = 1
    server: Server | None = None
    logs: Path | None = None


def report(options: Options, *, as_json: bool) -> int:
    """Run, print what came of it and return the exit status: 1 where it couldn't be run."""
    console = Console(stderr=True)
    try:
        found = run(options, console)
    except (*_FAULTS, BaseExceptionGroup) as error:
        faults = leaves(error)
        if not all(isinstance(fault, _FAULTS) for fault in faults):
            raise
        for fault in faults:
            console.print(Text(f"bench: {fault}", style="bold red"), soft_wrap=True)
        return 1
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found)).decode() + "\n")
    else:
        show(found, Console())
    return 0


def run(options: Options, console: Console) -> Report:
    """Play everything and score it.

    Raises ClipsUnusable, DemoFailed, OSError and, in a group, BroadcastError, ServerRefused and ViewerRefused.
    """
    clips = read_clips(options.data, options.only)
    if options.server is None:
        pull_models()
    played = asyncio.run(_play_all(options, clips, console))
    if options.logs is not None:
        _write_logs(options.logs, played)
    reports = tuple(report_of(one) for one in played)
    silent = [clip.name for clip in clips if clip.silent]
    return Report(lanes=options.lanes, clips=reports, summary=summarise(reports, silent))


def reader_of(clip: Clip, lang: str | None) -> str:
    """The language that a recording is read in: English where Chinese is spoken, else Chinese."""
    return lang or ("en" if clip.language in _CHINESE or clip.language is None else "zh-Hans")


async def _play_all(options: Options, clips: Sequence[Clip], console: Console) -> list[Played]:
    async with _there(options) as there:
        with Progress(console=console, transient=True) as progress:
            bar = progress.add_task("warming up", total=sum(clip.seconds for clip in clips))
            for number, clip in enumerate(_one_a_pair(clips, options.lang)):
                await play(there, clip, f"bench-warm-{number}", reader_of(clip, options.lang))
            lanes = _Lanes(there, options, clips, progress, bar)
            async with asyncio.TaskGroup() as tasks:
                for _ in range(options.lanes):
                    tasks.create_task(lanes.work())
    return [lanes.played[clip.name] for clip in clips]


class _Lanes:
    """Several players that take one recording after another."""

    def __init__(self, there: There, options: Options, clips: Sequence[Clip], progress: Progress, bar: TaskID) -> None:
        self._there = there
        self._options = options
        self._left = list(enumerate(clips))[::-1]
        self._progress = progress
        self._bar = bar
        self.played: dict[str, Played] = {}

    async def work(self) -> None:
        """Play until none is left."""
        while self._left:
            number, clip = self._left.pop()
            self._progress.update(self._bar, description=clip.name)
            lang = reader_of(clip, self._options.lang)
            self.played[clip.name] = await play(self._there, clip, f"bench-{number}", lang)
            self._progress.advance(self._bar, clip.seconds)


def _one_a_pair(clips: Sequence[Clip], lang: str | None) -> list[Clip]:
    """The shortest recording of each language: what a model does once for a language is not counted."""
    found: dict[tuple[str | None, str], Clip] = {}
    for clip in clips:
        if not clip.silent:
            found.setdefault((clip.language, reader_of(clip, lang)), clip)
    return list(found.values())


@asynccontextmanager
async def _there(options: Options) -> AsyncIterator[There]:
    if options.server is not None:
        yield There(host=options.server, viewer=options.server, cpu=lambda: None)
        return
    async with node("*") as started:
        yield There(host=started.host, viewer=started.viewer, cpu=cpu_of(started.process.pid))


def _write_logs(folder: Path, played: Sequence[Played]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for one in played:
        spoken = one.clip.language or "en"
        texts = grow(one.seen, spoken, one.lang)
        write_log(folder / f"{one.clip.name}.source.jsonl", log_lines(one.clip.name, texts.source, spoken))
        write_log(folder / f"{one.clip.name}.{one.lang}.jsonl", log_lines(one.clip.name, texts.target, one.lang))
