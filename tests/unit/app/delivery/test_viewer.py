"""app/delivery/viewer.py"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.delivery.frames import Frame
from app.delivery.viewer import Outbox, Viewer, ViewerLimits
from tests.unit.app.delivery.sinks import FakeSink

pytestmark = pytest.mark.unit

LIMITS = ViewerLimits(buffer_bytes=1000, outbox_cues=4, patience_s=10.0)


def frame(seq: int, cue: str | None = None, *, final: bool = True) -> Frame:
    return Frame(seq=seq, cue_id=cue or f"c{seq}", revision=seq, final=final, at=0.0, packet=b"\x81\x02{}")


def started(sink: FakeSink) -> Viewer:
    viewer = Viewer(sink, LIMITS)
    viewer.start((), 0, now=0.0)
    return viewer


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60))
def test_the_outbox_is_bounded_and_in_order_and_holds_one_newest_frame_of_a_cue(puts: list[tuple[int, bool]]) -> None:
    box = Outbox(4)
    for seq, (cue, final) in enumerate(puts):
        box.put(frame(seq, f"c{cue}", final=final))
        assert len(box) <= 4
    left = [box.take() for _ in range(len(box))]
    newest = {f"c{cue}": seq for seq, (cue, _) in enumerate(puts)}
    assert [one.seq for one in left] == sorted(one.seq for one in left)
    assert all(newest[one.cue_id] == one.seq for one in left)


@given(st.lists(st.booleans(), min_size=5, max_size=30))
def test_a_final_is_dropped_only_when_nothing_but_finals_waits(finals: list[bool]) -> None:
    box, waiting = Outbox(4), []
    for seq, final in enumerate(finals):
        waiting.append(frame(seq, final=final))
        box.put(waiting[-1])
        if len(waiting) > 4:
            waiting.remove(next((one for one in waiting if not one.final), waiting[0]))
    assert [box.take() for _ in range(len(box))] == waiting


def test_a_replay_longer_than_the_outbox_loses_nothing_to_what_follows() -> None:
    sink = FakeSink()
    sink.unsent = 1000
    viewer = Viewer(sink, LIMITS)
    viewer.start([frame(seq) for seq in range(1, 101)], 100, now=0.0)
    for seq in range(101, 105):
        viewer.send([frame(seq)], now=0.0)
    sink.unsent = 0
    viewer.drain(now=0.1)
    assert sink.seqs == list(range(1, 105))


def test_frames_go_straight_to_a_connection_that_takes_them() -> None:
    sink = FakeSink()
    viewer = started(sink)
    viewer.send([frame(1), frame(2)], now=0.0)
    assert sink.seqs == [1, 2]
    assert not viewer.behind


def test_frames_handed_over_by_the_replay_are_not_sent_again() -> None:
    sink = FakeSink()
    viewer = Viewer(sink, LIMITS)
    viewer.start([frame(1), frame(2)], 2, now=0.0)
    viewer.send([frame(1), frame(2)], now=0.0)
    viewer.send([frame(2), frame(3)], now=0.0)
    assert sink.seqs == [1, 2, 3]


def test_a_slow_viewer_gets_the_newest_revision_and_not_the_backlog() -> None:
    sink = FakeSink()
    viewer = started(sink)
    sink.unsent = 1000
    for seq in range(1, 9):
        viewer.send([frame(seq, "same", final=seq == 8)], now=0.0)
    assert viewer.behind
    sink.unsent = 0
    viewer.drain(now=0.5)
    assert sink.seqs == [8]
    assert not viewer.behind


def test_a_viewer_that_takes_nothing_for_its_patience_is_closed_as_slow() -> None:
    sink = FakeSink()
    viewer = started(sink)
    sink.unsent = 1000
    viewer.send([frame(1)], now=0.0)
    viewer.drain(now=9.9)
    assert sink.closed != (4408, "slow_reader")
    viewer.drain(now=10.0)
    assert sink.closed == (4408, "slow_reader")
    assert not viewer.behind


def test_a_viewer_that_takes_a_little_is_waited_for() -> None:
    sink = FakeSink()
    viewer = started(sink)
    sink.unsent = 5000
    viewer.send([frame(1)], now=0.0)
    for now in (9.0, 18.0, 27.0):
        sink.unsent -= 100
        viewer.drain(now)
    assert sink.closed is None
    viewer.drain(37.0)
    assert sink.closed is not None


def test_nothing_is_written_after_closing_and_closing_twice_does_nothing() -> None:
    sink = FakeSink()
    viewer = started(sink)
    viewer.close("room_closed")
    viewer.close("room_closed")
    viewer.send([frame(1)], now=0.0)
    viewer.drain(now=0.0)
    assert sink.closed == (4410, "room_closed")
    assert sink.frames == []


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(0, 2000)), max_size=80))
def test_whatever_the_connection_takes_frames_arrive_in_order_and_the_last_of_each_cue_that_fits(
    steps: list[tuple[int, bool, int]],
) -> None:
    sink = FakeSink()
    viewer = Viewer(sink, ViewerLimits(buffer_bytes=1000, outbox_cues=6))
    viewer.start((), 0, now=0.0)
    for seq, (cue, final, unsent) in enumerate(steps, start=1):
        sink.unsent = unsent
        viewer.send([frame(seq, f"c{cue}", final=final)], now=0.0)
        viewer.drain(now=0.0)
    sink.unsent = 0
    viewer.drain(now=0.0)
    assert sink.seqs == sorted(set(sink.seqs))
    newest = {f"c{cue}": seq for seq, (cue, _, _) in enumerate(steps, start=1)}
    assert {one.cue_id: one.seq for one in sink.frames} == newest
