"""pipelines/translate/translator.py, in virtual time with a scripted batcher"""

import asyncio

import msgspec
import pytest

from engines.batching.ticket import Failed, Outcome, Shed, ShedCause, Tier
from engines.engine import RowFailure
from engines.mt.types import Translation
from pipelines.comments.repeats import Repeat
from pipelines.spans import Span, SpanKind
from pipelines.translate.glossary import read_glossary
from pipelines.types import CueFlag
from tests.unit.pipelines.sources import comment, source
from tests.unit.pipelines.translate.stage import EN, HANS, HANT, VI, Batcher, Stage, play

pytestmark = pytest.mark.unit


def test_nothing_is_translated_while_nobody_reads() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.translator.take(comment())
        stage.translator.take(source())
        await asyncio.sleep(5)

    play(stage, scene)
    assert (stage.batcher.asked, stage.cues) == ([], [])


def test_only_the_languages_that_are_read_are_asked_for() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.demand.add(EN)
        stage.demand.add(VI)
        stage.translator.take(comment())
        await asyncio.sleep(5)

    play(stage, scene)
    assert sorted(stage.finals) == [("en", "大家好>en", ""), ("vi", "大家好>vi", "")]


def test_a_language_that_somebody_opens_gets_the_last_few_texts_first() -> None:
    stage = Stage(Batcher(), backfill=2)

    async def scene() -> None:
        for number in range(5):
            stage.translator.take(comment(f"c{number}", text=f"第{number}条"))
        stage.demand.add(EN)
        await asyncio.sleep(5)
        stage.translator.take(comment("c5", text="第5条"))
        await asyncio.sleep(5)

    play(stage, scene)
    assert [text for _, text, _ in stage.finals] == ["第3条>en", "第4条>en", "第5条>en"]


def test_a_language_that_comes_back_is_not_asked_for_again_what_it_has() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(comment())
        await asyncio.sleep(5)
        stage.demand.remove(EN, asyncio.get_running_loop().time())
        await asyncio.sleep(5)
        stage.translator.take(comment("c2", text="还在吗"))
        stage.demand.add(EN)
        await asyncio.sleep(5)

    play(stage, scene)
    assert [text for text, _ in stage.batcher.texts] == ["大家好", "还在吗"]


def test_the_reader_s_own_language_and_the_other_script_need_no_model() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.demand.add(HANS)
        stage.demand.add(HANT)
        stage.translator.take(comment(text="软件"))
        stage.translator.take(comment("c2", text="666", as_is="no_words"))
        await asyncio.sleep(5)

    play(stage, scene)
    assert stage.batcher.texts == []
    assert sorted(stage.finals) == [
        ("zh-Hans", "666", "no_words"),
        ("zh-Hans", "软件", "own_language"),
        ("zh-Hant", "666", "no_words"),
        ("zh-Hant", "軟體", "own_language"),
    ]


def test_readers_of_both_chinese_scripts_share_one_question_and_none_sees_the_other_script() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.demand.add(HANS)
        stage.demand.add(HANT)
        stage.translator.take(comment(text="message", language=EN))
        await asyncio.sleep(5)

    play(stage, scene)
    assert {target for _, target in stage.batcher.texts} == {"zh-Hans"}
    assert sorted(stage.finals) == [("zh-Hans", "信息", ""), ("zh-Hant", "資訊", "")]


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Shed(ShedCause.DEADLINE), "deadline"),
        (Shed(ShedCause.QUEUE_FULL), "queue_full"),
        (Failed(RowFailure("wrong_script")), "wrong_script"),
    ],
)
def test_a_text_that_could_not_be_translated_is_shown_as_it_is_with_the_reason(
    outcome: Outcome[Translation], reason: str
) -> None:
    stage = Stage(Batcher(outcome))

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(comment())
        stage.translator.take(source())
        await asyncio.sleep(5)

    play(stage, scene)
    assert stage.finals == [("en", "大家好", reason)] * 2
    assert all(cue.flags == (CueFlag.UNTRANSLATED,) for cue in stage.cues if cue.final)


def test_speech_that_comes_to_nothing_is_taken_away() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(source(revision=0, final=False, text="嗯"))
        stage.translator.take(source(revision=1, final=True, text=""))
        await asyncio.sleep(5)

    play(stage, scene)
    last = stage.cues[-1]
    assert (last.final, last.text, last.source_text) == (True, "", "")


def test_translations_under_way_are_bounded_and_what_is_over_is_still_shown() -> None:
    stage = Stage(Batcher(), in_flight=3)

    async def scene() -> None:
        stage.demand.add(EN)
        for number in range(5):
            stage.translator.take(comment(f"c{number}"))
        await asyncio.sleep(5)

    play(stage, scene)
    assert sorted(reason for _, _, reason in stage.finals) == ["", "", "", "queue_full", "queue_full"]


def test_tickets_carry_the_room_its_tier_and_the_deadline_of_the_kind() -> None:
    stage = Stage(Batcher(), comment_deadline_s=5.0, final_deadline_s=4.0)

    async def scene() -> None:
        stage.demand.add(EN)
        await asyncio.sleep(1.99)
        stage.translator.take(comment(ledger=msgspec.structs.replace(comment().ledger, received=2.0)))
        stage.translator.take(source())
        await asyncio.sleep(5)

    play(stage, scene)
    (about_comment, about_speech) = [ticket for row, ticket in stage.batcher.asked if row.text]
    assert (about_comment.flow, about_comment.tier, about_comment.supersedes) == ("r/comment", Tier.STANDARD, None)
    assert about_comment.deadline == pytest.approx(7.0)
    assert (about_speech.deadline, about_speech.supersedes) == (pytest.approx(6.0), ("r", "s1.0", "en"))


def test_an_opened_language_is_made_ready_in_the_background() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.demand.add(EN)
        await asyncio.sleep(10)

    play(stage, scene)
    ready = [(row.source, row.target, ticket.tier) for row, ticket in stage.batcher.asked]
    assert ("zh-Hans", "en", Tier.BACKGROUND) in ready
    assert all(target == "en" != origin for origin, target, _ in ready)


def test_what_is_under_way_when_a_room_ends_is_shown_as_it_is() -> None:
    stage = Stage(Batcher(takes_s=60.0))

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(comment())
        await asyncio.sleep(1)

    play(stage, scene)
    assert stage.finals == [("en", "大家好", "closed")]


def test_idle_comes_when_nothing_is_under_way() -> None:
    stage = Stage(Batcher(takes_s=1.5))

    async def scene() -> None:
        stage.demand.add(EN)
        await stage.translator.idle()
        stage.translator.take(comment())
        before = asyncio.get_running_loop().time()
        await stage.translator.idle()
        assert asyncio.get_running_loop().time() - before == pytest.approx(1.5)

    play(stage, scene)


def test_no_model_sees_what_stays_as_it_is_and_readers_get_it_back() -> None:
    stage = Stage(Batcher())
    phone = Span(1, 12, SpanKind.PHONE)

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(comment(text="打13812345670，锅99元", spans=(phone,)))
        await asyncio.sleep(5)

    stage.glossary.glossary = read_glossary("zh-Hans\ten\n锅\tLao wok\n")
    play(stage, scene)
    assert stage.batcher.texts == [("打X1，X2 X3", "en")]
    assert stage.finals == [("en", "打13812345670，Lao wok 99 yuan>en", "")]


def test_a_price_alone_is_said_without_a_model() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(comment(text="99元？"))
        await asyncio.sleep(5)

    play(stage, scene)
    assert stage.batcher.texts == []
    assert stage.finals == [("en", "99 yuan？", "")]


def test_a_comment_that_many_write_is_shown_again_with_its_count() -> None:
    stage = Stage(Batcher(), count_interval_s=1.9)

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(comment())
        stage.translator.count(Repeat("c1", 2))  # before it is translated
        await asyncio.sleep(5)
        for count in range(3, 9):
            stage.translator.count(Repeat("c1", count))
            await asyncio.sleep(0.5)
        await asyncio.sleep(5)

    play(stage, scene)
    assert [(cue.revision, cue.count, cue.text) for cue in stage.cues] == [
        (0, 2, "大家好>en"),
        (1, 3, "大家好>en"),
        (2, 6, "大家好>en"),
        (3, 8, "大家好>en"),
    ]


def test_paid_comments_go_before_the_others_and_take_no_place_from_them() -> None:
    stage = Stage(Batcher())

    async def scene() -> None:
        stage.demand.add(EN)
        stage.translator.take(comment())
        stage.translator.take(comment("c2", first=True))
        await asyncio.sleep(5)

    play(stage, scene)
    plain, paid = (ticket for row, ticket in stage.batcher.asked if row.text)
    assert paid.deadline < plain.deadline
    assert paid.flow != plain.flow
