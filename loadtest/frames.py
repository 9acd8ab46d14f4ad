"""The public protocol's frames as this client reads and writes them."""

from typing import TypeAlias

import msgspec


class _Frame(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    pass


class LanguageName(msgspec.Struct, frozen=True, kw_only=True):
    """A language that can be read: its tag and its own name."""

    lang: str
    name: str


class Hello(_Frame, frozen=True, kw_only=True, tag="hello"):
    """First frame of a subtitle connection."""

    protocol: int
    room: str
    lang: str
    epoch: str
    seq: int
    server_time_ms: int
    languages: tuple[LanguageName, ...] = ()


class Cue(_Frame, frozen=True, kw_only=True, tag="cue"):
    """One version of one cue; `start` and `end` are seconds of the broadcaster's clock."""

    seq: int
    id: str
    revision: int
    final: bool
    kind: str
    lang: str
    source_lang: str
    text: str
    source_text: str
    ledger: dict[str, int] = {}
    author: str | None = None
    start: float = 0.0
    end: float = 0.0
    flags: tuple[str, ...] = ()
    reason: str | None = None
    count: int = 1
    route: str | None = None

    @property
    def translated(self) -> bool:
        """Whether the text is a translation, not the source passed on as it is."""
        as_it_is = {"pending", "original", "untranslated"}
        return bool(self.text) and self.text != self.source_text and as_it_is.isdisjoint(self.flags)


class Retract(_Frame, frozen=True, kw_only=True, tag="cue.retract"):
    """A partial that has come to nothing."""

    seq: int
    id: str


class Gap(_Frame, frozen=True, kw_only=True, tag="gap"):
    """What was asked for is no longer held; it goes on at `next_seq`."""

    epoch: str
    next_seq: int


class State(_Frame, frozen=True, kw_only=True, tag="state"):
    """How the room is: `ingest` idle or live."""

    ingest: str


class Pong(_Frame, frozen=True, kw_only=True, tag="pong"):
    """Answer to Ping."""

    client_time_ms: float
    server_time_ms: float


class ErrorFrame(_Frame, frozen=True, kw_only=True, tag="error"):
    """Why the server closes the connection."""

    code: str
    detail: str
    hint: str
    reconnect: bool


class AudioReady(_Frame, frozen=True, kw_only=True, tag="audio.ready"):
    """The room takes our audio."""

    room: str


class AudioEnded(_Frame, frozen=True, kw_only=True, tag="audio.ended"):
    """All our audio was taken."""

    seconds: float


class Ping(_Frame, frozen=True, kw_only=True, tag="ping"):
    """Ask for the server's time."""

    client_time_ms: float


class AudioStart(_Frame, frozen=True, kw_only=True, tag="audio.start"):
    """What the binary frames will hold."""

    sample_rate_hz: int
    channels: int = 1
    format: str = "s16le"
    stream_start: float = 0.0


class AudioEnd(_Frame, frozen=True, kw_only=True, tag="audio.end"):
    """No more audio comes."""


ServerFrame: TypeAlias = Hello | Cue | Retract | Gap | State | Pong | ErrorFrame | AudioReady | AudioEnded
ClientFrame: TypeAlias = Ping | AudioStart | AudioEnd


class _Head(msgspec.Struct):
    type: str = ""


_KNOWN = {str(kind.__struct_config__.tag) for kind in ServerFrame.__args__}
_head = msgspec.json.Decoder(_Head)
_frame = msgspec.json.Decoder(ServerFrame)
_encoder = msgspec.json.Encoder()


def encode(frame: ClientFrame) -> str:
    """The frame as JSON text."""
    return _encoder.encode(frame).decode()


def decode(text: str | bytes) -> ServerFrame | None:
    """The server's frame; None for a type this client does not know, so that the protocol can grow.

    Raises msgspec.DecodeError where the text is no JSON or a known frame lacks a field.
    """
    return _frame.decode(text) if _head.decode(text).type in _KNOWN else None
