"""What a reader saw → a log in simulstream's format (https://pypi.org/project/simulstream/), which others can score.

One JSON object a line: first `{"metadata": {"wav_name": …}, "id": 0}`, then one for each change of the text with the
tokens that were taken back from its end and those that came. Times are seconds of the broadcast; as it is played in
real time, they hold the computing too, and `computation_time` is 0.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from loadtest.speech.texts import Moment, tokens


def log_lines(name: str, moments: Iterable[Moment], language: str) -> list[dict[str, Any]]:
    """The log of one playing."""
    lines: list[dict[str, Any]] = [{"metadata": {"wav_name": name}, "id": 0}]
    before: list[str] = []
    for moment in moments:
        now = tokens(moment.text, language)
        kept = _common(before, now)
        lines.append(
            {
                "id": 0,
                "total_audio_processed": round(moment.at, 3),
                "computation_time": 0.0,
                "generated_tokens": now[kept:],
                "deleted_tokens": before[kept:],
            }
        )
        before = now
    return lines


def write_log(file: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write a log. Raises OSError."""
    file.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def _common(before: list[str], now: list[str]) -> int:
    count = 0
    for one, other in zip(before, now, strict=False):
        if one != other:
            break
        count += 1
    return count
