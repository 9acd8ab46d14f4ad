"""Unfinished speech in pipelines/translate/translator.py, in virtual time with a scripted batcher"""

import asyncio

import pytest

from pipelines.types import CueFlag
from tests.unit.pipelines.sources import comment, source
from tests.unit.pipelines.translate.stage import EN, Batcher, Stage, play

pytestmark = pytest.mark.unit


def test_unfinished_speech_is_shown_at_once_and_translated_as_far_as_it_is_certain() -> None:
    stage = Stage(Batcher(), partial_interval_s=1.0)

    async def scene() -> None:
        stage.demand.add(EN)
        for revision in range(1, 9):
            steady = max(0, revision - 2)
            stage.translator.take(source(revision=revision, final=False, text="好" * revision, steady=steady))
            await asyncio.sleep(0.4)
        await asyncio.sleep(1)
        stage.translator.take(source(revision=9, text="好" * 9))
        await asyncio.sleep(5)

    play(stage, scene)
    assert [len(text) for text, _ in stage.batcher.texts] == [1, 4, 9]
    assert stage.cues[0].flags == (CueFlag.PENDING,)
    assert (stage.cues[0].text, stage.cues[0].source_text) == ("", "好")
    assert stage.finals == [("en", "好" * 9 + ">en", "")]
    assert [cue.revision for cue in stage.cues] == list(range(len(stage.cues)))


def test_the_whole_is_translated_with_its_beginning_as_a_draft() -> None:
    stage = Stage(Batcher(takes_s=0.2))

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(source(revision=1, final=False, text="大家好今", steady=3))
        await asyncio.sleep(1)
        stage.translator.take(source(revision=2, text="大家好今天"))
        await asyncio.sleep(1)

    play(stage, scene)
    asked = [(row.text, row.draft) for row, _ in stage.batcher.asked if row.text]
    assert asked == [("大家好", ""), ("大家好今天", "大家好>en")]


def test_translations_that_take_long_come_one_after_another_and_each_is_shown() -> None:
    stage = Stage(Batcher(takes_s=1.6), partial_interval_s=1.0)

    async def scene() -> None:
        stage.demand.add(EN)
        for revision in range(1, 13):
            stage.translator.take(source(revision=revision, final=False, text="好" * revision, steady=revision - 1))
            await asyncio.sleep(0.5)
        await asyncio.sleep(5)

    play(stage, scene)
    assert [len(text) for text, _ in stage.batcher.texts] == [1, 5, 9]
    shown = list(dict.fromkeys(cue.text for cue in stage.cues if cue.text))
    assert shown == [f"{'好' * length}>en" for length in (1, 5, 9)]


@pytest.mark.parametrize(("whole", "answers"), [("大家好", 2), ("大家好吗", 1)])
def test_a_beginning_still_under_way_is_given_up_unless_it_is_the_whole(whole: str, answers: int) -> None:
    stage = Stage(Batcher(takes_s=2.0))

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(source(revision=1, final=False, text="大家好", steady=3))
        await asyncio.sleep(0.5)
        stage.translator.take(source(revision=2, text=whole))
        await asyncio.sleep(5)

    play(stage, scene)
    assert [text for text, _ in stage.batcher.texts] == ["大家好", whole]
    assert stage.batcher.answered == answers
    assert stage.finals == [("en", f"{whole}>en", "")]


def test_a_comment_in_between_keeps_no_beginning_under_way() -> None:
    stage = Stage(Batcher(takes_s=2.0))

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(source(revision=1, final=False, text="大家好", steady=3))
        await asyncio.sleep(0.5)
        stage.translator.take(comment(text="多少钱"))
        stage.translator.take(source(revision=2, text="大家好吗"))
        await asyncio.sleep(5)

    play(stage, scene)
    assert stage.batcher.answered == 2  # the comment and the whole


def test_text_that_is_only_more_certain_is_not_shown_again() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.demand.add(EN)
        for steady in range(3):
            stage.translator.take(source(revision=steady, final=False, text="大家好", steady=steady))
            await asyncio.sleep(0.1)

    play(stage, scene)
    assert [cue.source_text for cue in stage.cues] == ["大家好"]
