"""app/delivery/hub.py and app/delivery/fanout.py, in virtual time"""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from app.clock import Clock
from app.delivery.fanout import PER_TURN
from app.delivery.frames import Position
from app.delivery.hub import Hub, HubSettings, Joined
from app.errors import ServiceError
from engines.languages import LanguageTag
from tests.support.delivery_server import cue
from tests.support.virtual_time import run_virtual
from tests.unit.app.delivery.sinks import FakeSink

pytestmark = pytest.mark.unit

EN, VI = LanguageTag("en"), LanguageTag("vi")


def with_hub(body: Callable[[Hub], Awaitable[None]], settings: HubSettings | None = None) -> None:
    """Run `body` with a hub whose room "r" is open and whose fan-out works."""

    async def main() -> None:
        hub = Hub(Clock(), settings or HubSettings())
        hub.open("r")
        async with asyncio.TaskGroup() as tasks:
            fan_out = tasks.create_task(hub.run())
            await body(hub)
            fan_out.cancel()

    run_virtual(main())


def join(hub: Hub, sink: FakeSink, language: LanguageTag = EN, resume: Position | None = None) -> Joined:
    joined = hub.join("r", language, sink, resume)
    hub.start(joined)
    return joined


def test_a_cue_reaches_every_viewer_of_its_language_once_and_no_other() -> None:
    async def body(hub: Hub) -> None:
        english, vietnamese = [FakeSink() for _ in range(PER_TURN + 3)], FakeSink()
        for sink in english:
            join(hub, sink)
        join(hub, vietnamese, VI)
        hub.publish(cue("r", "en", 1))
        await asyncio.sleep(0.1)
        assert all(sink.seqs == [1] for sink in english)
        assert len({id(sink.frames[0]) for sink in english}) == 1
        assert vietnamese.seqs == []

    with_hub(body)


def test_a_viewer_that_joins_between_publishing_and_fan_out_gets_the_cue_once() -> None:
    async def body(hub: Hub) -> None:
        early, late = FakeSink(), FakeSink()
        join(hub, early)
        hub.publish(cue("r", "en", 1))
        join(hub, late)
        await asyncio.sleep(0.1)
        assert early.seqs == late.seqs == [1]

    with_hub(body)


def test_a_big_channel_lets_other_tasks_run_while_it_is_written_to() -> None:
    async def body(hub: Hub) -> None:
        sinks = [FakeSink() for _ in range(3 * PER_TURN)]
        for sink in sinks:
            join(hub, sink)
        hub.publish(cue("r", "en", 1))
        seen = []
        while len(sinks) not in seen:
            await asyncio.sleep(0)
            seen.append(sum(len(sink.frames) for sink in sinks))
        assert max(after - before for before, after in zip([0, *seen], seen, strict=False)) <= PER_TURN

    with_hub(body)


def test_a_slow_viewer_is_drained_when_it_reads_again_and_others_do_not_wait() -> None:
    async def body(hub: Hub) -> None:
        slow, quick = FakeSink(), FakeSink()
        join(hub, slow)
        join(hub, quick)
        slow.unsent = 10**6
        hub.publish(cue("r", "en", 1))
        await asyncio.sleep(0.01)
        assert (slow.seqs, quick.seqs) == ([], [1])
        slow.unsent = 0
        await asyncio.sleep(0.1)
        assert slow.seqs == [1]

    with_hub(body)


def test_a_viewer_that_never_reads_is_closed_after_ten_seconds() -> None:
    async def body(hub: Hub) -> None:
        sink = FakeSink()
        join(hub, sink)
        sink.unsent = 10**6
        hub.publish(cue("r", "en", 1))
        await asyncio.sleep(9.9)
        assert sink.closed is None
        await asyncio.sleep(0.2)
        assert sink.closed == (4408, "slow_reader")

    with_hub(body)


def test_a_resume_continues_behind_the_last_frame_seen() -> None:
    async def body(hub: Hub) -> None:
        first = FakeSink()
        joined = join(hub, first)
        hub.publish(cue("r", "en", 1))
        await asyncio.sleep(0.1)
        hub.leave(joined)
        hub.publish(cue("r", "en", 2))
        again = FakeSink()
        join(hub, again, resume=Position(joined.epoch, first.seqs[-1]))
        await asyncio.sleep(0.1)
        assert again.seqs == [2]

    with_hub(body)


def test_readers_make_demand_and_a_language_lingers_after_the_last_has_left() -> None:
    async def body(hub: Hub) -> None:
        demand, loop = hub.demand("r"), asyncio.get_running_loop()
        joined = join(hub, FakeSink())
        assert demand.languages(loop.time()) == {EN}
        hub.leave(joined)
        assert hub.viewers == 0
        assert demand.languages(loop.time() + 9.9) == {EN}
        assert demand.languages(loop.time() + 10.1) == frozenset()

    with_hub(body)


def test_closing_a_room_closes_its_viewers_and_their_leaving_harms_no_room_of_that_name() -> None:
    async def body(hub: Hub) -> None:
        sink = FakeSink()
        joined = join(hub, sink)
        hub.close("r")
        hub.close("r")
        assert sink.closed == (4410, "room_closed")
        hub.open("r")
        join(hub, FakeSink())
        hub.leave(joined)
        assert hub.demand("r").readers(EN) == 1
        assert hub.viewers == 1

    with_hub(body)


def test_a_cue_of_a_closed_room_is_dropped() -> None:
    async def body(hub: Hub) -> None:
        hub.publish(cue("gone", "en", 1))

    with_hub(body)


def test_an_unknown_room_and_a_full_node_are_refused() -> None:
    async def body(hub: Hub) -> None:
        with pytest.raises(ServiceError) as unknown:
            hub.join("other", EN, FakeSink(), None)
        assert unknown.value.code == "unknown_room"
        join(hub, FakeSink())
        with pytest.raises(ServiceError) as full:
            hub.join("r", EN, FakeSink(), None)
        assert (full.value.status, full.value.retry_after) == (503, 10)

    with_hub(body, HubSettings(max_viewers=1))


def test_two_revisions_within_a_turn_go_out_as_the_newer_one() -> None:
    async def body(hub: Hub) -> None:
        sink = FakeSink()
        join(hub, sink)
        hub.publish(cue("r", "en", 1, revision=0, final=False, text="old"))
        hub.publish(cue("r", "en", 1, revision=1, text="new"))
        await asyncio.sleep(0.1)
        assert [json.loads(frame.text)["text"] for frame in sink.frames] == ["new"]

    with_hub(body)
