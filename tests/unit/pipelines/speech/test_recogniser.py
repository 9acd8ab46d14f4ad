import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.batching.ticket import Shed, ShedCause, Tier
from engines.languages import LanguageTag
from pipelines.speech.recogniser import PartialTurns, Recogniser, RecognitionSettings
from pipelines.types import RoomSettings
from tests.support.virtual_time import run_virtual
from tests.unit.pipelines.speech.sound import ENGLISH, ScriptedRecogniser, utterance_sound

pytestmark = pytest.mark.unit

ROOM = RoomSettings(room="r1", tier=Tier.PREMIUM)


def test_a_partial_is_due_after_half_a_second_of_new_speech() -> None:
    turns = PartialTurns(RecognitionSettings())
    assert not turns.is_due(10.0, 0.4)
    assert turns.is_due(10.0, 0.5)
    turns.asked(10.0, 0.5)
    turns.answered(0.1)
    assert not turns.is_due(10.4, 0.9)
    assert turns.is_due(10.5, 1.0)


def test_the_interval_stretches_where_recognition_takes_long() -> None:
    turns = PartialTurns(RecognitionSettings())
    turns.asked(10.0, 0.5)
    turns.answered(0.8)
    assert not turns.is_due(11.5, 2.0)
    assert turns.is_due(11.61, 2.11)


def test_a_room_is_strained_while_its_interval_is_twice_what_it_should_be() -> None:
    turns = PartialTurns(RecognitionSettings())

    def answer(took_s: float, times: int) -> bool:
        for _ in range(times):
            turns.asked(0.0, 0.0)
            turns.answered(took_s)
        return turns.is_strained

    assert not answer(0.2, 50)
    assert not answer(1.5, 1)  # one slow answer strains nobody
    assert not answer(0.2, 50)
    assert answer(0.6, 50)
    assert answer(0.45, 50)  # better, but not yet well
    assert not answer(0.3, 50)


def test_nothing_is_due_while_an_answer_is_awaited() -> None:
    turns = PartialTurns(RecognitionSettings())
    turns.asked(10.0, 0.5)
    assert not turns.is_due(60.0, 50.0)


def test_a_new_utterance_starts_from_nothing() -> None:
    turns = PartialTurns(RecognitionSettings())
    turns.asked(10.0, 8.0)
    turns.answered(0.1)
    turns.opened()
    assert turns.is_due(11.0, 0.5)


@given(st.lists(st.floats(0.01, 3.0), min_size=1, max_size=20))
def test_recognition_never_takes_more_than_half_of_the_time(durations: list[float]) -> None:
    turns, now, busy = PartialTurns(RecognitionSettings()), 0.0, 0.0
    for took in durations:
        while not turns.is_due(now, now):
            now += 0.032
        assert now >= 2 * busy - 0.001
        turns.asked(now, now)
        turns.answered(took)
        busy += took


@pytest.mark.parametrize(("final", "deadline"), [(False, 1.0), (True, 3.0)])
def test_tickets_supersede_partials_and_never_finals(final: bool, deadline: float) -> None:
    batcher = ScriptedRecogniser(lambda row: "hello")

    async def ask() -> None:
        recogniser = Recogniser(ROOM, batcher, RecognitionSettings())
        assert await recogniser.ask(utterance_sound(), ENGLISH, (), final=final) is not None

    run_virtual(ask())
    [(_, _, ticket)] = batcher.asked
    assert (ticket.flow, ticket.tier, ticket.deadline) == ("r1", Tier.PREMIUM, deadline)
    assert ticket.supersedes == (None if final else ("r1", "partial"))


def test_a_shed_request_is_no_answer() -> None:
    async def ask() -> None:
        batcher = ScriptedRecogniser(lambda row: Shed(ShedCause.DEADLINE))
        candidates = (ENGLISH, LanguageTag("vi"))
        assert (
            await Recogniser(ROOM, batcher, RecognitionSettings()).ask(utterance_sound(), None, candidates, final=True)
            is None
        )

    run_virtual(ask())
