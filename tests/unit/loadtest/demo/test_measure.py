"""What counts as waited."""

from typing import Any

import pytest

from loadtest.demo.measure import Edges, Measure, Path
from loadtest.demo.speech import Spoken
from loadtest.demo.summary import summarise
from loadtest.frames import Cue
from loadtest.percentiles import percentile

pytestmark = pytest.mark.unit

_EDGES = Edges([Spoken(text="a", start=1.0, end=3.0), Spoken(text="b", start=4.0, end=6.0)], 10.0)


def _measure() -> Measure:
    return Measure(_EDGES, lambda second: 100.0 + second)


def _cue(**fields: Any) -> Cue:
    usual: dict[str, Any] = {
        "seq": 1,
        "id": "s1",
        "revision": 0,
        "final": True,
        "kind": "speech",
        "lang": "zh-Hans",
        "source_lang": "en",
        "text": "你好",
        "source_text": "Hello",
        "start": 0.8,
        "end": 3.4,
    }
    return Cue(**(usual | fields))


def test_speech_is_measured_from_its_true_edges_not_from_what_the_server_says() -> None:
    measure = _measure()
    measure.cue(_cue(final=False, text="", flags=("pending",)), 101.7)
    measure.cue(_cue(final=False, revision=1), 102.5)
    shown = measure.cue(_cue(revision=2), 104.0)
    assert shown.shown == pytest.approx(1.0)
    assert list(measure.samples[Path.FIRST_SOURCE]) == pytest.approx([0.7])
    assert list(measure.samples[Path.FIRST_TRANSLATED]) == pytest.approx([1.5])
    assert list(measure.samples[Path.SPEECH_FINAL]) == pytest.approx([1.0])
    assert measure.waiting == 0


def test_edges_are_found_in_every_round_and_only_near_by() -> None:
    assert _EDGES.end(23.4) == pytest.approx(23.0)
    assert _EDGES.start(14.2) == pytest.approx(14.0)
    assert _EDGES.end(8.0) == 8.0
    assert Edges((), 1.0).end(8.0) == 8.0


def test_a_comment_is_measured_once_from_its_sending_and_only_if_translated() -> None:
    measure = _measure()
    measure.comment_sent("c1", 50.0, alone=True)
    measure.comment_sent("c2", 50.0, alone=False)
    comment = {"kind": "comment", "start": 0.0, "end": 0.0}
    measure.cue(_cue(id="c1", final=False, flags=("pending",), text="", **comment), 50.1)
    assert measure.waiting == 2
    measure.cue(_cue(id="c1", revision=1, **comment), 50.5)
    measure.cue(_cue(id="c1", revision=1, **comment), 59.0)
    measure.cue(_cue(id="c2", text="Hello", flags=("original",), **comment), 50.5)
    assert list(measure.samples[Path.COMMENTS_ALONE]) == pytest.approx([0.5])
    assert not measure.samples[Path.COMMENTS]
    assert measure.waiting == 0
    assert measure.as_written == 1


def test_what_is_refused_or_retracted_is_not_waited_for() -> None:
    measure = _measure()
    measure.comment_sent("c1", 50.0, alone=True)
    measure.comment_refused("c1")
    measure.cue(_cue(final=False), 101.0)
    measure.retracted("s1")
    assert measure.waiting == 0


def test_the_summary_holds_each_path_against_its_budget() -> None:
    measure = _measure()
    measure.samples[Path.COMMENTS_ALONE].extend([0.2] * 19 + [5.0])
    measure.samples[Path.COMMENTS].extend([1.9])
    rows = {row.path: row for row in summarise(measure, "zh-Hans", {}).paths}
    alone, busy = rows[Path.COMMENTS_ALONE], rows[Path.COMMENTS]
    assert (alone.cues, alone.p50_ms, alone.p95_ms, alone.max_ms, alone.within) == (20, 200, 200, 5_000, True)
    assert (busy.p95_ms, busy.budget_ms, busy.within) == (1_900, 1_800, False)
    assert rows[Path.SPEECH_FINAL].within is None


def test_percentiles_are_by_nearest_rank() -> None:
    assert percentile([3.0, 1.0, 2.0, 4.0], 0.5) == 2.0
    assert percentile([1.0], 0.95) == 1.0
