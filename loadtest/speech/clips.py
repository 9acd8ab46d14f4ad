"""Recordings to be played: what is said in each, in which language, and from when to when."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from loadtest.sources import SAMPLE_RATE_HZ, frames

_SOUNDS = (".flac", ".wav", ".mp3", ".ogg", ".m4a")
# What file names begin with, and the language that is spoken there.
_LANGUAGES = {tag: tag for tag in ("yue", "en", "vi", "th", "id", "ms", "ja", "ko")} | {"zh": "zh-Hans", "tl": "fil"}


class ClipsUnusable(Exception):
    """There is nothing to be played; the message says where and why."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a long reading: its place in seconds, what is said, and the same in other languages."""

    start: float
    end: float
    text: str
    translations: dict[str, str]


class Clip(msgspec.Struct, frozen=True, kw_only=True):
    """A recording. `reference` None where it isn't known, "" where nothing is said.

    `language` None where none is known. Speech starts and ends at `speech_start` and `speech_end` (seconds), both 0
    where there is none.
    """

    name: str
    file: Path
    language: str | None
    seconds: float
    reference: str | None
    pages: tuple[Page, ...]
    speech_start: float
    speech_end: float

    @property
    def silent(self) -> bool:
        """Whether nothing is said in it, so that no cue may come of it."""
        return self.reference == ""


def read_clips(folder: Path, only: str = "*") -> list[Clip]:
    """The recordings of a folder, the longest last.

    A name begins with its language ("zh-news.flac"). NAME.txt beside it holds what is said, nothing where nothing is
    said; NAME.pages.jsonl the parts of a long one. Raises ClipsUnusable, BroadcastError.
    """
    found = [file for file in sorted(folder.glob(only)) if file.suffix in _SOUNDS]
    if not found:
        raise ClipsUnusable(f"{folder} holds no recording named {only} ({', '.join(_SOUNDS)})")
    return sorted(map(_clip, found), key=lambda clip: clip.seconds)


def _clip(file: Path) -> Clip:
    samples = _samples(file)
    start, end = _speech(samples)
    text = file.with_suffix(".txt")
    reference = text.read_text(encoding="utf-8").strip() if text.is_file() else None
    return Clip(
        name=file.stem,
        file=file,
        language=_LANGUAGES.get(file.stem.split("-")[0]),
        seconds=len(samples) / SAMPLE_RATE_HZ,
        reference=reference,
        pages=_pages(file.with_suffix(".pages.jsonl")),
        speech_start=0.0 if reference == "" else start,
        speech_end=0.0 if reference == "" else end,
    )


def _pages(file: Path) -> tuple[Page, ...]:
    if not file.is_file():
        return ()
    rows = [msgspec.json.decode(line, type=dict[str, Any]) for line in file.read_text(encoding="utf-8").splitlines()]
    return tuple(
        Page(
            start=row["start"],
            end=row["end"],
            text=row["text"],
            translations={tag: said for tag, said in row.items() if isinstance(said, str) and tag != "text"},
        )
        for row in rows
    )


def _samples(file: Path) -> NDArray[np.float32]:
    sound = b"".join(frames(str(file)))
    return (np.frombuffer(sound, "<i2") / 32768).astype(np.float32)


def _speech(samples: NDArray[np.float32]) -> tuple[float, float]:
    """Where speech starts and ends, by faster-whisper's voice activity detection, in seconds."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    found = get_speech_timestamps(samples, VadOptions(speech_pad_ms=0, min_silence_duration_ms=100))
    if not found:
        return 0.0, len(samples) / SAMPLE_RATE_HZ
    return found[0]["start"] / SAMPLE_RATE_HZ, found[-1]["end"] / SAMPLE_RATE_HZ
