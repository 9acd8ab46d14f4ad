"""app/delivery/channel.py"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.clock import Clock
from app.delivery.channel import FRESH_CUES, HELD_CUES, HELD_S, Channel
from app.delivery.frames import Frame, Position
from pipelines.types import Ledger
from tests.support.delivery_server import cue

pytestmark = pytest.mark.unit


def new() -> Channel:
    return Channel(Clock(lambda: 0.0))


def put(channel: Channel, number: int, now: float = 0.0, **fields: object) -> Frame:
    frame = channel.append(cue("r", "en", number, **fields), now)
    assert frame is not None
    return frame


# (cue, seconds since the one before): revisions of a cue only grow, as CueBook makes them
published = st.lists(st.tuples(st.integers(0, 40), st.floats(0, 20)), max_size=120)


def play(channel: Channel, steps: list[tuple[int, float]]) -> tuple[list[Frame], float]:
    now, frames, revisions = 0.0, [], dict.fromkeys(range(41), 0)
    for number, pause in steps:
        now += pause
        revisions[number] += 1
        frames.append(put(channel, number, now, revision=revisions[number], final=revisions[number] > 2))
    return frames, now


@given(published)
def test_frames_are_numbered_without_holes(steps: list[tuple[int, float]]) -> None:
    frames, _ = play(new(), steps)
    assert [frame.seq for frame in frames] == list(range(1, len(steps) + 1))


@given(published, st.data())
def test_a_resume_gets_the_newest_revision_of_each_missed_cue_once_and_in_order(
    steps: list[tuple[int, float]], data: st.DataObject
) -> None:
    channel = new()
    frames, now = play(channel, steps)
    seen = data.draw(st.integers(0, channel.seq))
    replay = channel.since(Position(channel.epoch, seen), now)
    assert [frame.seq for frame in replay.frames] == sorted({frame.seq for frame in replay.frames})
    newest = {frame.cue_id: frame for frame in frames}
    missed = [frame for frame in newest.values() if frame.seq > seen]
    if replay.gap is None:
        assert sorted(missed, key=lambda frame: frame.seq) == list(replay.frames)
    else:  # only what is over 120 s old may be missing, and the gap says where it goes on
        assert any(now - frame.at > HELD_S for frame in missed)
        assert all(now - frame.at > HELD_S for frame in missed if frame not in replay.frames)
        assert replay.gap.next_seq == (replay.frames[0].seq if replay.frames else channel.seq + 1)


@given(published)
def test_the_fan_out_is_handed_everything_new_once(steps: list[tuple[int, float]]) -> None:
    channel, handed = new(), list[Frame]()
    for place in range(0, len(steps), 3):
        play_on = steps[place : place + 3]
        for number, _ in play_on:
            channel.append(cue("r", "en", number, revision=channel.seq), 0.0)
        handed += channel.fresh()
    assert [frame.seq for frame in handed] == sorted({frame.seq for frame in handed})
    assert channel.seq == len(steps)
    assert {frame.cue_id for frame in handed} == {f"c{number}" for number, _ in steps}
    assert not channel.fresh()


def test_an_hour_of_cues_leaves_the_channel_at_its_bound() -> None:
    channel = new()
    for number in range(36_000):
        put(channel, number, now=number / 10)
        assert len(channel) <= HELD_CUES


def test_cues_older_than_two_minutes_are_forgotten() -> None:
    channel = new()
    put(channel, 1, now=0.0)
    put(channel, 2, now=HELD_S)
    assert [frame.seq for frame in channel.since(None, HELD_S).frames] == [1, 2]
    assert [frame.seq for frame in channel.since(None, HELD_S + 0.1).frames] == [2]


def test_a_fresh_viewer_gets_the_last_eight_cues_but_none_that_came_to_nothing() -> None:
    channel = new()
    for number in range(12):
        put(channel, number)
    put(channel, 11, revision=1, text="", source_text="")
    frames = channel.since(None, 0.0).frames
    assert [frame.cue_id for frame in frames] == [f"c{number}" for number in range(3, 11)]
    assert len(frames) == FRESH_CUES


def test_a_viewer_that_saw_everything_has_missed_nothing_even_when_all_is_forgotten() -> None:
    channel = new()
    put(channel, 1)
    replay = channel.since(Position(channel.epoch, 1), 1_000.0)
    assert (replay.frames, replay.gap) == ((), None)


@pytest.mark.parametrize("position", [Position("another", 1), Position("another", 0)])
def test_another_epoch_is_a_gap_and_starts_with_all_that_is_held(position: Position) -> None:
    channel = new()
    first, second = put(channel, 1), put(channel, 2)
    replay = channel.since(position, 0.0)
    assert replay.frames == (first, second)
    assert replay.gap is not None
    assert (replay.gap.epoch, replay.gap.next_seq) == (channel.epoch, 1)


def test_a_place_in_the_future_is_a_gap() -> None:
    channel = new()
    put(channel, 1)
    assert channel.since(Position(channel.epoch, 99), 0.0).gap is not None


def test_an_older_revision_than_the_one_held_is_not_sent() -> None:
    channel = new()
    put(channel, 1, revision=3)
    assert channel.append(cue("r", "en", 1, revision=2), 0.0) is None
    assert channel.append(cue("r", "en", 1, revision=3), 0.0) is None
    assert channel.seq == 1


def test_a_cue_goes_out_as_the_wire_has_it_with_times_in_epoch_milliseconds() -> None:
    clock = Clock(lambda: 0.0)
    frame = Channel(clock).append(cue("r", "en", 7, ledger=Ledger(received=1.0, published=1.25)), 1.25)
    assert frame is not None
    sent = json.loads(frame.text)
    assert (sent["type"], sent["id"], sent["text"], sent["source_lang"]) == ("cue", "c7", "text 7", "zh-Hans")
    assert sent["ledger"] == {"received": clock.epoch_ms(1.0), "published": clock.epoch_ms(1.25)}


def test_a_cue_without_any_text_at_its_end_is_a_retraction() -> None:
    channel = new()
    frame = put(channel, 1, text="", source_text="")
    assert json.loads(frame.text) == {"type": "cue.retract", "seq": 1, "id": "c1"}


def test_two_channels_have_two_epochs() -> None:
    assert new().epoch != new().epoch
