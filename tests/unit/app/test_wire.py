"""app/wire.py"""

import json
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.wire import (
    AudioEnd,
    AudioStart,
    ClientFrame,
    CueFrame,
    LedgerTimes,
    Ping,
    Retract,
    ServerFrame,
    decode_client,
    encode,
)
from tests.support.trees import ROOT

pytestmark = pytest.mark.unit

CUE = CueFrame(
    seq=7,
    id="c1",
    revision=0,
    final=True,
    kind="comment",
    lang="en",
    source_lang="zh-Hans",
    text="How much?",
    source_text="多少钱？",
    ledger=LedgerTimes(received=1_000),
)


def test_a_frame_says_its_type_and_leaves_out_what_has_its_default() -> None:
    assert json.loads(encode(CUE)) == {
        "type": "cue",
        "seq": 7,
        "id": "c1",
        "revision": 0,
        "final": True,
        "kind": "comment",
        "lang": "en",
        "source_lang": "zh-Hans",
        "text": "How much?",
        "source_text": "多少钱？",
        "ledger": {"received": 1_000},
    }
    assert json.loads(encode(Retract(seq=1, id="s1"))) == {"type": "cue.retract", "seq": 1, "id": "s1"}


@given(st.text(), st.text())
def test_any_text_comes_out_as_it_went_in(text: str, author: str) -> None:
    frame = msgspec.structs.replace(CUE, text=text, author=author)
    assert msgspec.json.decode(encode(frame), type=ServerFrame) == frame


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ('{"type":"ping","client_time_ms":1.5}', Ping(client_time_ms=1.5)),
        ('{"type":"audio.start","sample_rate_hz":16000}', AudioStart(sample_rate_hz=16_000)),
        ('{"type":"audio.end"}', AudioEnd()),
        ('{"type":"audio.end","of_a_later_version":true}', AudioEnd()),
    ],
)
def test_a_client_s_frame_is_read_and_what_a_later_version_adds_is_passed_over(text: str, frame: ClientFrame) -> None:
    assert decode_client(text) == frame


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        "{",
        '{"type":"cue"}',
        '{"type":"ping"}',
        '{"type":"ping","client_time_ms":"1"}',
        '{"type":"ping","client_time_ms":NaN}',
        '{"type":"audio.start","sample_rate_hz":16000.5}',
        '{"type":"audio.start","sample_rate_hz":16000,"format":"mp3"}',
        b"\xff\xfe",
        "[" * 100_000,
    ],
)
def test_anything_else_is_refused(text: str | bytes) -> None:
    with pytest.raises((msgspec.DecodeError, RecursionError)):
        decode_client(text)


@pytest.mark.parametrize("frame", [*get_args(ServerFrame), *get_args(ClientFrame)])
def test_every_frame_and_field_stands_in_the_protocol_s_page(frame: type[msgspec.Struct]) -> None:
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    assert str(frame.__struct_config__.tag) in page
    assert [name for name in frame.__struct_fields__ if name not in page] == []
