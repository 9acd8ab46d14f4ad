"""The whole speech path in virtual time, with a scripted recogniser and loudness for voice activity."""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import pairwise

import numpy as np
import pytest

from engines.asr.types import Recognition, RecognitionRequest
from engines.audio import AudioChunk, seconds
from engines.batching.ticket import Done, Failed, Outcome, Shed, ShedCause
from engines.engine import RowFailure
from engines.languages import LanguageTag
from pipelines.speech.pipeline import SpeechParts, SpeechPath
from pipelines.speech.settings import SpeechSettings
from pipelines.types import RoomSettings, SourceText
from tests.support.virtual_time import run_virtual
from tests.unit.pipelines.speech.sound import (
    ENGLISH,
    Broadcaster,
    LoudnessVAD,
    ScriptedRecogniser,
    loud,
    recognition,
    silent,
)

pytestmark = pytest.mark.unit

ZH, HANT = LanguageTag("zh-Hans"), LanguageTag("zh-Hant")
TEXT = "we came to the market and an old man sold us two copper kettles for a song while it rained all day"
WORDS = TEXT.split()


def two_words_a_second(row: RecognitionRequest) -> str:
    return " ".join(WORDS[: int(2 * seconds(len(row.samples)))])


class Room:
    """A speech path that runs, and what came of it."""

    def __init__(self, batcher: ScriptedRecogniser, *sources: LanguageTag, keep: bool = True) -> None:
        self.batcher = batcher
        self.emitted: list[SourceText] = []
        self.emitted_at: list[float] = []
        self.counts: Counter[str] = Counter()
        self.last: dict[str, SourceText] = {}
        self._keep = keep
        parts = SpeechParts(
            voice=LoudnessVAD(),
            recognise=batcher,
            settings=SpeechSettings(),
            to_script=lambda text, language: text.replace("水壺", "水壶") if language == ZH else text,
            count=self._count,
        )
        self.path = SpeechPath(RoomSettings(room="r", sources=sources or (ENGLISH,)), parts, self._emit)
        self.broadcaster = Broadcaster(self.path.push)

    def _count(self, cause: str) -> None:
        self.counts[cause] += 1

    def _emit(self, source: SourceText) -> None:
        before = self.last.get(source.id)
        assert before is None or (source.revision == before.revision + 1 and not before.final)
        self.last[source.id] = source
        if self._keep:
            self.emitted.append(source)
            self.emitted_at.append(asyncio.get_running_loop().time())
        else:
            for old in list(self.last)[:-20]:
                del self.last[old]

    @property
    def finals(self) -> list[str]:
        return [source.text for source in self.emitted if source.final]

    def play(self, script: Callable[[Broadcaster], Awaitable[None]]) -> "Room":
        async def run() -> None:
            async with asyncio.TaskGroup() as tasks:
                running = tasks.create_task(self.path.run())
                await script(self.broadcaster)
                await self.path.finish()
                running.cancel()

        run_virtual(run())
        assert all(source.final for source in self.last.values()), "a piece was left open"
        return self


def answer(result: Recognition) -> Outcome[Recognition]:
    return Done(result=result, queued_s=0.0, infer_s=0.2, batch_rows=1)


async def one_utterance(broadcaster: Broadcaster) -> None:
    await broadcaster.send(np.concatenate((silent(1.0), loud(3.0), silent(2.0))))


def test_speech_is_shown_while_it_is_spoken_and_ends_with_the_final() -> None:
    room = Room(ScriptedRecogniser(two_words_a_second)).play(one_utterance)
    # Its first word is shown when the second one is heard: half a second of speech and the recogniser twice, chunks.
    assert room.emitted_at[0] <= 1.0 + 2 * (0.5 + 0.2) + 0.2
    assert len([source for source in room.emitted if not source.final]) >= 4
    assert room.finals == ["we came to the market and"]
    last = room.emitted[-1]
    assert last.stream_start == pytest.approx(0.8, abs=0.05)
    assert last.stream_end == pytest.approx(4.2, abs=0.05)
    assert last.ledger.captured == pytest.approx(4.0, abs=0.11)
    assert last.ledger.endpointed == pytest.approx(4.6, abs=0.11)


def test_the_final_is_ready_when_the_utterance_closes() -> None:
    room = Room(ScriptedRecogniser(two_words_a_second)).play(one_utterance)
    closed = room.emitted[-1].ledger.endpointed
    assert room.emitted_at[-1] == closed
    finals_asked = [ticket for _, _, ticket in room.batcher.asked if ticket.supersedes is None]
    assert len(finals_asked) == 1


def test_a_complete_sentence_ends_the_utterance_sooner() -> None:
    room = Room(ScriptedRecogniser(lambda row: two_words_a_second(row) + ".")).play(one_utterance)
    assert room.emitted_at[-1] == pytest.approx(4.5, abs=0.11)


def test_speech_that_resumes_makes_the_speculative_final_a_partial() -> None:
    async def hesitate(broadcaster: Broadcaster) -> None:
        await broadcaster.send(np.concatenate((loud(2.0), silent(0.4), loud(2.0), silent(2.0))))

    room = Room(ScriptedRecogniser(two_words_a_second)).play(hesitate)
    assert {source.id for source in room.emitted} == {"s1.0"}
    assert room.finals == ["we came to the market and an old man"[: len(room.finals[0])]]
    assert len(room.finals[0].split()) >= 8


def test_one_partial_is_in_flight_at_a_time_and_slow_answers_stretch_the_interval() -> None:
    room = Room(ScriptedRecogniser(two_words_a_second, takes_s=1.0)).play(one_utterance)
    partials = [at for at, _, ticket in room.batcher.asked if ticket.supersedes is not None]
    assert all(later - earlier >= 2.0 for earlier, later in pairwise(partials))
    assert room.batcher.most_at_once <= 2  # a partial, and the final that doesn't wait for it


def test_speak_pause_speak() -> None:
    async def speak(broadcaster: Broadcaster) -> None:
        for pause_s in (10.0, 300.0, 3.0):
            await broadcaster.send(np.concatenate((loud(15.0), silent(pause_s))))

    room = Room(ScriptedRecogniser(two_words_a_second)).play(speak)
    assert len({source.id.split(".")[0] for source in room.emitted}) == 6  # each 15 s are cut once
    starts = [source.stream_start for source in room.emitted if source.final]
    assert starts == sorted(starts)
    assert starts[-1] > 15 + 10 + 15 + 300


def test_a_phantom_is_taken_back_and_counted() -> None:
    def says(row: RecognitionRequest) -> str:
        return "Thanks for" if seconds(len(row.samples)) < 2.5 else "Thanks for watching!"

    room = Room(ScriptedRecogniser(says)).play(one_utterance)
    assert room.finals == [""]
    assert room.counts == {"phantom": 1}


def test_where_the_recogniser_runs_away_at_the_end_what_was_heard_last_is_the_final_text() -> None:
    def says(row: RecognitionRequest) -> str:
        return two_words_a_second(row) if seconds(len(row.samples)) < 2.5 else "and an old man sold " * 9

    room = Room(ScriptedRecogniser(says)).play(one_utterance)
    assert room.finals == ["we came to the"]
    assert room.counts == {"repeats": 1}


@pytest.mark.parametrize("broken", [Shed(ShedCause.DEADLINE), Shed(ShedCause.QUEUE_FULL)])
def test_without_a_final_answer_what_was_heard_last_is_the_final_text(broken: Shed) -> None:
    def says(row: RecognitionRequest) -> Outcome[Recognition] | str:
        return two_words_a_second(row) if seconds(len(row.samples)) < 2.5 else broken

    room = Room(ScriptedRecogniser(says)).play(one_utterance)
    assert room.finals == ["we came to the"]
    assert room.counts == {"unanswered": 1}


def test_failures_alone_show_nothing_and_the_next_utterance_is_heard() -> None:
    answers = {"now": False}

    def says(row: RecognitionRequest) -> Outcome[Recognition] | str:
        return "we came back" if answers["now"] else Failed(RowFailure("broken"))

    async def twice(broadcaster: Broadcaster) -> None:
        await one_utterance(broadcaster)
        answers["now"] = True
        await one_utterance(broadcaster)

    room = Room(ScriptedRecogniser(says)).play(twice)
    assert room.finals == ["we came back"]
    assert {source.id for source in room.emitted} == {"s2.0"}


def test_chinese_is_written_in_the_rooms_script() -> None:
    room = Room(ScriptedRecogniser(lambda row: "兩個水壺"), ZH).play(one_utterance)
    assert room.finals == ["兩個水壶"]
    assert Room(ScriptedRecogniser(lambda row: "兩個水壺"), HANT).play(one_utterance).finals == ["兩個水壺"]


def test_another_language_heard_in_a_short_clip_is_asked_again_in_the_rooms() -> None:
    def says(row: RecognitionRequest) -> Outcome[Recognition]:
        if row.language is not None:
            return answer(recognition("两个水壶", row.language))
        if seconds(len(row.samples)) > 3.5:
            return answer(recognition("我们来到了市场", ZH))
        return answer(recognition("Young girl who", ENGLISH, language_probability=0.6))

    async def speak(broadcaster: Broadcaster) -> None:
        await broadcaster.send(np.concatenate((loud(5.0), silent(2.0))))
        await broadcaster.send(np.concatenate((loud(1.5), silent(2.0))))

    room = Room(ScriptedRecogniser(says), ZH, ENGLISH).play(speak)
    last = room.emitted[-1]
    assert (last.text, last.language) == ("两个水壶", ZH)


def test_a_broadcaster_that_vanishes_mid_word_and_returns() -> None:
    async def vanish(broadcaster: Broadcaster) -> None:
        await broadcaster.send(loud(2.0))
        await asyncio.sleep(60.0)
        await one_utterance(broadcaster)

    room = Room(ScriptedRecogniser(two_words_a_second)).play(vanish)
    ended = [at for at, source in zip(room.emitted_at, room.emitted, strict=True) if source.final]
    assert ended[0] < 4.5
    assert len(room.finals) == 2


@pytest.mark.parametrize("jump_s", [3600.0, -3600.0])
def test_stream_time_that_jumps_by_an_hour_starts_a_new_utterance(jump_s: float) -> None:
    async def jump(broadcaster: Broadcaster) -> None:
        broadcaster.stream_time = 4000.0
        await broadcaster.send(loud(2.0))
        broadcaster.stream_time += jump_s
        await broadcaster.send(np.concatenate((loud(2.0), silent(1.0))))

    room = Room(ScriptedRecogniser(two_words_a_second)).play(jump)
    first, second = (source for source in room.emitted if source.final)
    assert first.stream_end == pytest.approx(4002.0, abs=0.05)
    assert second.stream_start == pytest.approx(4002.0 + jump_s, abs=0.05)
    assert second.stream_end > second.stream_start


def test_an_utterance_that_is_open_at_the_end_is_finished_within_two_seconds() -> None:
    room = Room(ScriptedRecogniser(two_words_a_second)).play(lambda broadcaster: broadcaster.send(loud(3.0)))
    assert room.finals == [" ".join(WORDS[:5])]
    slow = Room(ScriptedRecogniser(two_words_a_second, takes_s=2.5)).play(
        lambda broadcaster: broadcaster.send(loud(4.0))
    )
    assert slow.counts == {"unanswered": 1}


def test_sound_that_comes_faster_than_it_is_taken_is_dropped_and_counted() -> None:
    async def flood() -> None:
        room = Room(ScriptedRecogniser(two_words_a_second))
        for n in range(100):
            room.path.push(AudioChunk(stream_start=n * 1.0, samples=silent(1.0), received_at=0.0))
        assert room.counts == {"backlog": 98}

    run_virtual(flood())


@pytest.mark.parametrize("chunk_s", [0.007, 0.05, 1.0])
def test_the_text_is_the_same_whatever_the_size_of_the_chunks(chunk_s: float) -> None:
    room = Room(ScriptedRecogniser(two_words_a_second))
    room.broadcaster = Broadcaster(room.path.push, chunk_s)
    assert room.play(one_utterance).finals == ["we came to the market and"]


def test_an_hour_of_silence_asks_nothing() -> None:
    async def hour(broadcaster: Broadcaster) -> None:
        for _ in range(3600):
            await broadcaster.send(silent(1.0))

    room = Room(ScriptedRecogniser(two_words_a_second))
    room.broadcaster = Broadcaster(room.path.push, 1.0)
    room.play(hour)
    assert room.emitted == []
    assert room.batcher.asked == []


def held_bytes(thing: object, seen: set[int]) -> int:
    """Bytes that an object of ours holds, arrays included; models, functions and the loop left out."""
    if id(thing) in seen or callable(thing) or isinstance(thing, type | asyncio.TaskGroup | asyncio.Event):
        return 0
    seen.add(id(thing))
    size = thing.nbytes if isinstance(thing, np.ndarray) else sys.getsizeof(thing)
    if isinstance(thing, dict):
        return size + sum(held_bytes(part, seen) for part in thing.values())
    if isinstance(thing, np.ndarray | str | bytes):
        return size
    parts = list(thing) if hasattr(thing, "__iter__") else []
    parts += list(getattr(thing, "__dict__", {}).values())
    parts += [getattr(thing, name) for name in getattr(type(thing), "__slots__", ()) if hasattr(thing, name)]
    return size + sum(held_bytes(part, seen) for part in parts)


def test_an_hour_of_speech_holds_no_more_than_a_minute_of_it() -> None:
    sizes: list[int] = []

    room = Room(ScriptedRecogniser(two_words_a_second), keep=False)
    room.broadcaster = Broadcaster(room.path.push, 0.5)
    minute = np.concatenate([np.concatenate((loud(11.0), silent(0.5), loud(7.5), silent(1.0))) for _ in range(3)])

    async def hour(broadcaster: Broadcaster) -> None:
        for _ in range(60):
            await broadcaster.send(minute)
            sizes.append(held_bytes(room.path, {id(room), id(room.batcher)}))

    room.play(hour)
    assert room.batcher.asked
    assert max(sizes[30:]) <= max(sizes[:5]) * 1.02
    assert max(sizes) < 3_000_000
