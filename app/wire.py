"""The public protocol, version 1: every frame as a tagged struct. docs/protocol.md says the same in prose.

Times on the wire are epoch milliseconds, stream times are seconds of the broadcaster's clock.
"""

from typing import Literal, TypeAlias

import msgspec

PROTOCOL_VERSION = 1


class _Frame(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    pass


class LanguageName(msgspec.Struct, frozen=True, kw_only=True):
    """A language that can be read in this room: its BCP-47 tag and its own name."""

    lang: str
    name: str


class ReadingSpeed(msgspec.Struct, frozen=True, kw_only=True):
    """How long a finished subtitle should be seen: its characters at this speed, and never less than `least_s`."""

    characters_per_s: float
    least_s: float


class Hello(_Frame, frozen=True, kw_only=True, tag="hello"):
    """First frame of a subtitle connection. `seq` is the last number already given out in this epoch."""

    protocol: int
    room: str
    lang: str
    epoch: str
    seq: int
    server_time_ms: int
    languages: tuple[LanguageName, ...]
    reading: ReadingSpeed


class LedgerTimes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When the cue passed each stage, in epoch milliseconds."""

    captured: int | None = None
    received: int | None = None
    endpointed: int | None = None
    recognised: int | None = None
    normalised: int | None = None
    queued: int | None = None
    inferred: int | None = None
    published: int | None = None


class CueFrame(_Frame, frozen=True, kw_only=True, tag="cue"):
    """One version of one cue. A higher `revision` of the same `id` replaces a lower one."""

    seq: int
    id: str
    revision: int
    final: bool
    kind: Literal["speech", "comment"]
    lang: str
    source_lang: str
    text: str
    source_text: str
    ledger: LedgerTimes
    author: str | None = None
    start: float = 0.0
    end: float = 0.0
    flags: tuple[str, ...] = ()
    reason: str | None = None
    count: int = 1
    route: str | None = None


class Retract(_Frame, frozen=True, kw_only=True, tag="cue.retract"):
    """A cue that was shown as partial and has come to nothing: take it away."""

    seq: int
    id: str


class Gap(_Frame, frozen=True, kw_only=True, tag="gap"):
    """The place asked for is no longer held: what follows starts later (or in another epoch)."""

    epoch: str
    next_seq: int


class RoomState(_Frame, frozen=True, kw_only=True, tag="state"):
    """How the room is, sent after hello and whenever it changes. `ingest`: whether a broadcaster is connected.

    `load`: strained while unfinished speech is recognised less often than it should be.
    """

    ingest: Literal["idle", "live"]
    load: Literal["normal", "strained"] = "normal"


class Pong(_Frame, frozen=True, kw_only=True, tag="pong"):
    """Answer to Ping: the client's own time back, and the server's, to learn offset and round trip."""

    client_time_ms: float
    server_time_ms: float


class ErrorFrame(_Frame, frozen=True, kw_only=True, tag="error"):
    """Why the connection is about to be closed, and what to do. `reconnect`: whether trying again may help."""

    code: str
    detail: str
    hint: str
    reconnect: bool


class AudioReady(_Frame, frozen=True, kw_only=True, tag="audio.ready"):
    """The room takes the audio announced by AudioStart."""

    room: str


class AudioEnded(_Frame, frozen=True, kw_only=True, tag="audio.ended"):
    """All audio was taken: how many seconds of it."""

    seconds: float


ServerFrame: TypeAlias = Hello | CueFrame | Retract | Gap | RoomState | Pong | ErrorFrame | AudioReady | AudioEnded


class Ping(_Frame, frozen=True, kw_only=True, tag="ping"):
    """Ask for the server's time."""

    client_time_ms: float


class AudioStart(_Frame, frozen=True, kw_only=True, tag="audio.start"):
    """First frame of an audio connection: what the binary frames after it hold, interleaved by channel.

    `stream_start`: the broadcaster's time of the first sample, in seconds.
    """

    sample_rate_hz: int
    channels: int = 1
    format: Literal["s16le", "f32le"] = "s16le"
    stream_start: float = 0.0


class AudioEnd(_Frame, frozen=True, kw_only=True, tag="audio.end"):
    """No more audio comes."""


ClientFrame: TypeAlias = Ping | AudioStart | AudioEnd


class CommentBody(msgspec.Struct, frozen=True, kw_only=True):
    """Body of POST comments. `text` has at most 2,000 characters.

    `first`: paid or from a moderator, so it goes before the room's other comments.
    """

    text: str
    author: str = ""
    id: str | None = None
    lang: str | None = None
    sent_at_ms: int | None = None
    first: bool = False


class CommentAccepted(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a comment that will be shown. Where others said the same lately it is counted with theirs."""

    id: str


class GlossaryState(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to PUT glossary: how many rows are in use now."""

    rows: int


class RoomBody(msgspec.Struct, frozen=True, kw_only=True):
    """Body of POST rooms. Empty `sources` or `targets` means any language."""

    room: str
    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    tier: Literal["premium", "standard", "background"] = "standard"
    hide_personal: bool = False


class RoomShown(RoomBody, frozen=True, kw_only=True):
    """A room as GET shows it: what it was asked to be, and how it is."""

    ingest: Literal["idle", "live"]
    load: Literal["normal", "strained"]


class NodeShown(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to GET node. `live_rooms_held`: how many may be live at once; null while that is not known yet."""

    rooms: int
    live_rooms: int
    live_rooms_held: int | None
    viewers: int


_encoder = msgspec.json.Encoder()
_client_decoder = msgspec.json.Decoder(ClientFrame)


def encode(frame: ServerFrame) -> str:
    """The frame as JSON text."""
    return _encoder.encode(frame).decode()


def decode_client(text: str | bytes) -> ClientFrame:
    """A client's frame. Raises msgspec.ValidationError or msgspec.DecodeError."""
    return _client_decoder.decode(text)
