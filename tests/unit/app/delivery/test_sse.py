"""app/delivery/sse.py, in virtual time"""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from app.clock import Clock
from app.delivery.frames import Position
from app.delivery.hub import Hub, HubSettings
from app.delivery.reading import Reading
from app.delivery.sse import EventSink, subtitle_events
from app.delivery.viewer import ViewerLimits
from engines.languages import LanguageTag
from tests.support.delivery_server import cue
from tests.support.virtual_time import run_virtual

pytestmark = pytest.mark.unit

EN = LanguageTag("en")


def reading(resume: Position | None = None) -> Reading:
    return Reading(room="r", language=EN, languages=(EN,), resume=resume)


def events(body: bytes) -> list[tuple[str | None, str]]:
    """(id, type) of each event."""
    found = []
    for block in body.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith((":", "retry")))
        if lines:
            found.append((lines.get("id"), json.loads(lines["data"])["type"]))
    return found


async def started(hub: Hub, resume: Position | None = None) -> tuple[AsyncIterator[bytes], bytes]:
    body = subtitle_events(hub, Clock(), reading(resume))
    assert (await anext(body)).startswith(b"retry:")
    return body, await anext(body)


def test_hello_comes_first_and_each_cue_carries_the_place_to_resume_from() -> None:
    async def main() -> None:
        hub = Hub(Clock(), HubSettings())
        hub.open("r")
        hub.publish(cue("r", "en", 1))
        _, first = await started(hub)
        (_, hello), (_, state), (place, kind) = events(first)
        assert (hello, state, kind) == ("hello", "state", "cue")
        epoch, seq = (place or "").split(":")
        hub.publish(cue("r", "en", 2))
        _, again = await started(hub, Position(epoch, int(seq)))
        assert events(again)[2:] == [(f"{epoch}:2", "cue")]
        _, lost = await started(hub, Position("0", 0))
        assert [kind for _, kind in events(lost)] == ["hello", "gap", "state", "cue", "cue"]

    run_virtual(main())


def test_silence_is_filled_with_a_comment_every_fifteen_seconds() -> None:
    async def main() -> None:
        hub, loop = Hub(Clock(), HubSettings()), asyncio.get_running_loop()
        hub.open("r")
        body, _ = await started(hub)
        assert (await anext(body), loop.time()) == (b":\n\n", 15.0)
        assert (await anext(body), loop.time()) == (b":\n\n", 30.0)

    run_virtual(main())


def test_a_closed_room_ends_the_stream_with_an_error_and_the_viewer_has_left() -> None:
    async def main() -> None:
        hub = Hub(Clock(), HubSettings())
        hub.open("r")
        body, _ = await started(hub)
        assert hub.viewers == 1
        hub.close("r")
        rest = b"".join([part async for part in body])
        assert events(rest) == [(None, "error")]
        assert b"room_closed" in rest
        assert hub.viewers == 0

    run_virtual(main())


def test_a_full_node_is_told_as_an_error_event() -> None:
    async def main() -> None:
        hub = Hub(Clock(), HubSettings(max_viewers=0))
        hub.open("r")
        body = subtitle_events(hub, Clock(), reading())
        rest = b"".join([part async for part in body])
        assert b'"busy"' in rest

    run_virtual(main())


def test_a_response_that_nobody_reads_holds_a_bounded_number_of_bytes() -> None:
    async def main() -> None:
        hub = Hub(Clock(), HubSettings(viewer=ViewerLimits(buffer_bytes=2000, outbox_cues=4)))
        hub.open("r")
        sink = EventSink()
        joined = hub.join("r", EN, sink, None)
        hub.start(joined)
        async with asyncio.TaskGroup() as tasks:
            fan_out = tasks.create_task(hub.run())
            for number in range(1000):
                hub.publish(cue("r", "en", number))
                await asyncio.sleep(0.001)
                assert sink.buffered() < 3000
            await asyncio.sleep(11.0)
            fan_out.cancel()
        assert sink.closed
        assert b"slow_reader" in await sink.take()

    run_virtual(main())
