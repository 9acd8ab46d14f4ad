"""What a viewer waited: from the moment words were spoken or sent to the moment they came back. No I/O."""

from bisect import bisect_left
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

import msgspec

from loadtest.demo.speech import Spoken
from loadtest.frames import Cue

Key = TypeVar("Key")
Value = TypeVar("Value")
_REMEMBERED = 4_096
_SAMPLES = 20_000
_SAME_EDGE_S = 0.6


class Path(StrEnum):
    """What is measured: comments from sending, speech from the end or the start of what was said."""

    COMMENTS_ALONE = "comments alone"
    COMMENTS = "comments with speech"
    SPEECH_FINAL = "speech final (after its end)"
    FIRST_SOURCE = "first source (after its start)"
    FIRST_TRANSLATED = "first translated (after start)"


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """How long a cue's version took, in seconds, by the paths it counts for."""

    waits: dict[Path, float] = {}

    @property
    def shown(self) -> float | None:
        """The wait to show beside the cue."""
        return next(iter(self.waits.values()), None)


class Edges:
    """When the sample's sentences truly begin and end, so that the server's own idea of it is not taken on trust."""

    def __init__(self, sentences: Sequence[Spoken], length: float) -> None:
        self._starts = [sentence.start for sentence in sentences]
        self._ends = [sentence.end for sentence in sentences]
        self._length = length

    def start(self, second: float) -> float:
        """The nearest true beginning within 0.6 s of a stream second, else that second."""
        return self._nearest(self._starts, second)

    def end(self, second: float) -> float:
        """The nearest true end within 0.6 s of a stream second, else that second."""
        return self._nearest(self._ends, second)

    def _nearest(self, edges: list[float], second: float) -> float:
        if not edges:
            return second
        rounds, within = divmod(second, self._length)
        place = bisect_left(edges, within)
        nearest = min(edges[max(0, place - 1) : place + 1], key=lambda edge: abs(edge - within))
        return rounds * self._length + nearest if abs(nearest - within) <= _SAME_EDGE_S else second


class Measure:
    """Matches cues with what was sent. `heard_at` answers at which loop time a stream second left the broadcaster."""

    def __init__(self, edges: Edges, heard_at: Callable[[float], float | None]) -> None:
        self._edges = edges
        self._heard_at = heard_at
        self._sent: OrderedDict[str, tuple[float, Path]] = OrderedDict()
        self._counted: OrderedDict[tuple[str, Path], None] = OrderedDict()
        self._open: OrderedDict[str, None] = OrderedDict()
        self.samples: dict[Path, deque[float]] = {path: deque(maxlen=_SAMPLES) for path in Path}
        self.translated = 0
        self.as_written = 0
        self.untranslated = 0

    @property
    def waiting(self) -> int:
        """Comments and utterances whose last version has not come."""
        return len(self._open)

    def comment_sent(self, name: str, at: float, *, alone: bool) -> None:
        """A comment left at loop time `at`; `alone` where nobody speaks."""
        _remember(self._sent, name, (at, Path.COMMENTS_ALONE if alone else Path.COMMENTS))
        _remember(self._open, name, None)

    def comment_refused(self, name: str) -> None:
        """A comment that will not be shown."""
        self._open.pop(name, None)

    def retracted(self, name: str) -> None:
        """A partial that has come to nothing."""
        self._open.pop(name, None)

    def cue(self, cue: Cue, at: float) -> Waits:
        """A version of a cue came at loop time `at`: each path is counted once a cue."""
        settled = cue.final and "pending" not in cue.flags
        if settled:
            self._open.pop(cue.id, None)
            self._count_kind(cue)
        elif cue.kind == "speech":
            _remember(self._open, cue.id, None)
        begun = self._begun(cue, settled)
        waits = {path: at - since for path, since in begun.items() if self._first(cue.id, path)}
        for path, wait in waits.items():
            self.samples[path].append(wait)
        return Waits(waits=waits)

    def _begun(self, cue: Cue, settled: bool) -> dict[Path, float]:
        """The paths that this version may count for, and when each began."""
        if cue.kind == "comment":
            sent = self._sent.get(cue.id)
            return {sent[1]: sent[0]} if sent is not None and settled and cue.translated else {}
        begun: dict[Path, float | None] = {}
        if settled and cue.translated:
            begun[Path.SPEECH_FINAL] = self._heard_at(self._edges.end(cue.end))
        spoken = self._heard_at(self._edges.start(cue.start))
        if cue.translated:
            begun[Path.FIRST_TRANSLATED] = spoken
        begun[Path.FIRST_SOURCE] = spoken
        return {path: since for path, since in begun.items() if since is not None}

    def _first(self, name: str, path: Path) -> bool:
        first = (name, path) not in self._counted
        _remember(self._counted, (name, path), None)
        return first

    def _count_kind(self, cue: Cue) -> None:
        if cue.translated:
            self.translated += 1
        elif "untranslated" in cue.flags:
            self.untranslated += 1
        else:
            self.as_written += 1


def _remember(known: OrderedDict[Key, Value], key: Key, value: Value) -> None:
    known[key] = value
    if len(known) > _REMEMBERED:
        known.popitem(last=False)
