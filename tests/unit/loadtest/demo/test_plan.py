"""When comments are due, and that the written ones are what the demo promises."""

import itertools
from pathlib import Path

import pytest

import loadtest.demo
from loadtest.chatter import Line, read_lines
from loadtest.demo.plan import PRE_SHOW_S, input_plan, sample_plan

pytestmark = pytest.mark.unit

_LINES = read_lines(Path(loadtest.demo.__file__).with_name("comments.jsonl"))


def test_the_written_comments_are_short_and_in_six_languages() -> None:
    assert {line.lang for line in _LINES} == {"zh-Hans", "vi", "th", "id", "ms", "en"}
    assert all(len(line.text) <= 40 for line in _LINES)
    assert sum(line.t < PRE_SHOW_S for line in _LINES) == 20
    assert any(line.text.isdigit() for line in _LINES)
    assert len({line.text for line in _LINES}) < len(_LINES)


def test_the_show_begins_again_without_the_quiet_part() -> None:
    plan = sample_plan(_LINES, 60.0, once=False)
    first = [line for line in _LINES if line.t < 80.0]
    played = list(itertools.islice(plan.comments(), len(first) + 5))
    assert played[: len(first)] == first
    assert [line.t for line in played[len(first) :]] == [line.t + 60.0 for line in first if line.t >= 20.0][:5]


def test_once_ends_with_the_show() -> None:
    assert len(list(sample_plan(_LINES, 60.0, once=True).comments())) == sum(line.t < 80.0 for line in _LINES)


def test_somebodys_own_input_starts_at_once_with_comments_beside_it() -> None:
    lines = [Line(t=t, author="A", lang="en", text="x") for t in (1.0, 21.0, 23.0)]
    plan = input_plan(lines, once=False)
    assert plan.speech_at == 0.0
    assert [line.t for line in itertools.islice(plan.comments(), 4)] == [1.0, 3.0, 6.0, 8.0]
    assert [line.t for line in input_plan(lines, once=True).comments()] == [1.0, 3.0]
