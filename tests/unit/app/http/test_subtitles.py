"""app/http/subtitles.py, in virtual time"""

import asyncio
from typing import Any

import pytest

from app.clock import Clock
from app.delivery.hub import Hub, HubSettings
from app.delivery.reading import Reading
from app.delivery.sse import subtitle_events
from app.http.subtitles import EventStream
from engines.languages import LanguageTag
from tests.support.virtual_time import run_virtual

pytestmark = pytest.mark.unit

EN = LanguageTag("en")
READING = Reading(room="r", language=EN, languages=(EN,), resume=None)


@pytest.mark.parametrize("spec_version", ["2.3", "2.4"])
@pytest.mark.parametrize("taken", [0, 1, 2])
def test_a_client_that_takes_nothing_gives_its_place_and_its_language_back(taken: int, spec_version: str) -> None:
    async def main() -> None:
        hub, left = Hub(Clock(), HubSettings(linger_s=1.0)), taken
        demand = hub.open("r")

        async def send(_: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                await asyncio.Event().wait()

        async def receive() -> dict[str, str]:
            await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        scope = {"type": "http", "asgi": {"spec_version": spec_version}}
        await EventStream(subtitle_events(hub, Clock(), READING))(scope, receive, send)
        now = asyncio.get_running_loop().time()
        assert now <= 16
        assert (hub.viewers, demand.languages(now + 2)) == (0, frozenset())

    run_virtual(main())
