"""The client's frames are the server's frames."""

import msgspec
import pytest

from app import wire
from loadtest import frames

pytestmark = pytest.mark.unit

_CUE = wire.CueFrame(
    seq=3,
    id="s1",
    revision=2,
    final=True,
    kind="speech",
    lang="zh-Hans",
    source_lang="en",
    text="你好",
    source_text="Hello",
    ledger=wire.LedgerTimes(received=1, endpointed=2),
    start=1.0,
    end=2.5,
)


@pytest.mark.parametrize(
    "frame",
    [
        _CUE,
        wire.Retract(seq=1, id="s1"),
        wire.Gap(epoch="e", next_seq=4),
        wire.RoomState(ingest="live"),
        wire.Pong(client_time_ms=1.5, server_time_ms=2.5),
        wire.ErrorFrame(code="busy", detail="full", hint="later", reconnect=True),
        wire.AudioReady(room="demo"),
        wire.AudioEnded(seconds=1.0),
    ],
    ids=lambda frame: type(frame).__name__,
)
def test_what_the_server_says_is_understood(frame: wire.ServerFrame) -> None:
    read = frames.decode(wire.encode(frame))
    assert msgspec.to_builtins(read) == msgspec.to_builtins(frame)


@pytest.mark.parametrize(
    "frame", [frames.Ping(client_time_ms=1.0), frames.AudioStart(sample_rate_hz=16_000), frames.AudioEnd()]
)
def test_what_the_client_says_is_understood(frame: frames.ClientFrame) -> None:
    assert msgspec.to_builtins(wire.decode_client(frames.encode(frame))) == msgspec.to_builtins(frame)


def test_a_frame_of_an_unknown_type_is_passed_over() -> None:
    assert frames.decode('{"type":"from.later","x":1}') is None


@pytest.mark.parametrize(
    ("text", "flags", "translated"),
    [("你好", (), True), ("Hello", (), False), ("", ("pending",), False), ("Hello!", ("untranslated",), False)],
)
def test_only_a_text_that_is_not_the_source_counts_as_translated(
    text: str, flags: tuple[str, ...], translated: bool
) -> None:
    cue = frames.decode(wire.encode(msgspec.structs.replace(_CUE, text=text, flags=flags)))
    assert isinstance(cue, frames.Cue)
    assert cue.translated is translated
