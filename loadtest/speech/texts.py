"""What a reader saw grow: the frames of one playing → the whole text at each moment, in the broadcaster's seconds."""

from collections.abc import Iterable

import msgspec

from loadtest.frames import Cue, Retract

_UNSPACED = frozenset({"zh-Hans", "zh-Hant", "zh-Hant-HK", "yue", "ja", "th", "km", "my", "lo"})
_PASSED_ON = frozenset({"untranslated", "original"})


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A frame, and how far the broadcast was when it came, in stream seconds."""

    at: float
    frame: Cue | Retract


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """All text on the screen from `at` on, earlier subtitles included."""

    at: float
    text: str


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """How the original and the translation grew; both hold a moment for each change.

    `finished`: when the last subtitle was declared finished, None where none was.
    """

    source: tuple[Moment, ...]
    target: tuple[Moment, ...]
    finished: float | None
    revisions: int
    untranslated: int


def units(language: str) -> str:
    """What texts of a language are counted in: "char" or "word"."""
    return "char" if language in _UNSPACED else "word"


def tokens(text: str, language: str) -> list[str]:
    """A text in those units."""
    return list("".join(text.split())) if units(language) == "char" else text.split()


def grow(seen: Iterable[Seen], source: str, target: str) -> Texts:
    """The texts of one playing, spoken in `source` and read in `target`."""
    cues: dict[str, Cue] = {}
    original, translated = _Growth(source), _Growth(target)
    finished: dict[str, float] = {}
    revisions = 0
    for one in seen:
        frame = one.frame
        if isinstance(frame, Retract):
            cues.pop(frame.id, None)
        elif frame.kind == "speech":
            revisions += 1
            cues[frame.id] = frame
            if frame.final:
                finished[frame.id] = one.at
        ordered = [cues[name] for name in sorted(cues, key=_place)]
        original.note(one.at, [cue.source_text for cue in ordered])
        translated.note(one.at, [cue.text for cue in ordered if _PASSED_ON.isdisjoint(cue.flags)])
    return Texts(
        source=tuple(original.moments),
        target=tuple(translated.moments),
        finished=max((at for name, at in finished.items() if name in cues), default=None),
        revisions=revisions,
        untranslated=sum("untranslated" in cue.flags for cue in cues.values()),
    )


class _Growth:
    def __init__(self, language: str) -> None:
        self._between = "" if units(language) == "char" else " "
        self.moments: list[Moment] = []

    def note(self, at: float, parts: list[str]) -> None:
        text = self._between.join(part for part in parts if part)
        if text != (self.moments[-1].text if self.moments else ""):
            self.moments.append(Moment(at=at, text=text))


def _place(name: str) -> tuple[int, ...]:
    """Where a piece of speech belongs: "s12.3" comes after "s12.2"."""
    return tuple(int(part) for part in name.lstrip("s").split("."))
