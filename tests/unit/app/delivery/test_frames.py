"""app/delivery/frames.py"""

import json

import pytest

from app.delivery.frames import Frame, packet
from app.wire import Retract

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("length", [1, 60, 90, 200, 70_000])
def test_the_text_of_a_packet_of_any_length_is_the_json_that_went_in(length: int) -> None:
    data = packet(Retract(seq=1, id="x" * length))
    frame = Frame(seq=1, cue_id="x", revision=0, final=True, at=0.0, packet=data)
    assert json.loads(frame.text) == {"type": "cue.retract", "seq": 1, "id": "x" * length}
    assert data[0] == 0x81  # final, text
    assert data[1] < 0x80  # a server's frames are not masked
