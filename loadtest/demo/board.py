"""The terminal's view: a line for each cue that has its last text, and one status line for what is being said."""

from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from loadtest.frames import Cue

_QUICK_S, _SLOW_S = 1.0, 2.0


class Board:
    """Prints cues. On a terminal a status line below them shows the current partial."""

    def __init__(self, console: Console, started_at: float) -> None:
        self._console = console
        self._started_at = started_at
        self._live = Live(console=console, refresh_per_second=8, transient=True) if console.is_terminal else None

    def __enter__(self) -> "Board":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def cue(self, cue: Cue, at: float, wait_s: float | None) -> None:
        """Show a version of a cue that came at loop time `at` after `wait_s` seconds."""
        if cue.final and "pending" not in cue.flags:
            shown = line(cue, at - self._started_at, wait_s)
            if self._console.is_terminal:
                self._console.print(shown, no_wrap=True, overflow="ellipsis")
            else:
                self._console.print(shown, soft_wrap=True)
            self._status(Text())
        elif cue.kind == "speech":
            self._status(partial(cue))

    def note(self, text: str) -> None:
        """Say something that is not a cue."""
        self._console.print(Text(text, style="dim"), soft_wrap=True)

    def _status(self, text: Text) -> None:
        if self._live is not None:
            self._live.update(text)


def line(cue: Cue, second: float, wait_s: float | None) -> Text:
    """One line: time, kind, languages, wait, source → translation."""
    speech = cue.kind == "speech"
    minutes, seconds = divmod(int(second), 60)
    text = Text()
    text.append(f"{minutes:02d}:{seconds:02d} ", style="dim")
    text.append("speech  " if speech else "comment ", style="bold cyan" if speech else "magenta")
    text.append(f"{cue.source_lang + '→' + cue.lang:<16} ", style="dim")
    text.append(_wait(wait_s), style=_colour(wait_s))
    if cue.author:
        text.append(f"{_plain(cue.author)}: ", style="dim")
    if cue.text == cue.source_text:
        text.append(_plain(cue.text))
        if "untranslated" in cue.flags:
            text.append(f"  (not translated: {cue.reason or 'no reason given'})", style="yellow")
        return text
    text.append(_plain(cue.source_text), style="dim")
    text.append(" → ", style="dim")
    text.append(_plain(cue.text), style="bold" if speech else "")
    return text


def partial(cue: Cue) -> Text:
    """What is being said now."""
    text = Text("      … ", style="dim", no_wrap=True, overflow="ellipsis")
    text.append(_plain(cue.source_text))
    if cue.text:
        text.append(f" → {_plain(cue.text)}")
    return text


def _wait(wait_s: float | None) -> str:
    return " " * 10 if wait_s is None else f"{round(wait_s * 1000):>6,} ms "


def _colour(wait_s: float | None) -> str:
    if wait_s is None:
        return ""
    return "green" if wait_s <= _QUICK_S else "yellow" if wait_s <= _SLOW_S else "red"


def _plain(text: str) -> str:
    """Without what would move a terminal's cursor; a zero-width joiner is kept, as it makes one emoji of several."""
    return "".join(sign if sign.isprintable() or sign == "\u200d" else " " for sign in text)
