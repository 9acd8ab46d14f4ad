import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.audio import AudioChunk, seconds
from pipelines.speech.backlog import Backlog

pytestmark = pytest.mark.unit


def chunk(size: int, start: float = 0.0) -> AudioChunk:
    return AudioChunk(stream_start=start, samples=np.zeros(size, np.float32), received_at=0.0)


def test_chunks_come_out_in_order() -> None:
    backlog = Backlog(2.0)
    for start in (0.0, 0.5, 1.0):
        assert backlog.push(chunk(8000, start)) == 0
    assert [backlog.pop().stream_start for _ in range(3)] == [0.0, 0.5, 1.0]
    assert not backlog


def test_the_oldest_is_dropped_and_leaves_a_gap() -> None:
    backlog = Backlog(1.0)
    backlog.push(chunk(8000, 0.0))
    backlog.push(chunk(8000, 0.5))
    assert backlog.push(chunk(8000, 1.0)) == 0.5
    first, second = backlog.pop(), backlog.pop()
    assert (first.stream_start, first.gap) == (0.5, True)
    assert (second.stream_start, second.gap) == (1.0, False)


@given(st.lists(st.integers(0, 40_000), max_size=30))
def test_what_waits_is_bounded_and_what_is_dropped_is_told(sizes: list[int]) -> None:
    backlog = Backlog(1.0)
    dropped = sum(backlog.push(chunk(size)) for size in sizes)
    waiting = 0.0
    while backlog:
        waiting += seconds(len(backlog.pop().samples))
    assert waiting <= 1.0
    assert dropped + waiting == pytest.approx(seconds(sum(sizes)))
