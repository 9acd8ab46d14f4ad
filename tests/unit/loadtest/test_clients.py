"""Broadcaster, chatter and viewer against a scripted server on loopback."""

import asyncio
import wave
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from loadtest.broadcaster import Broadcaster, BroadcastError
from loadtest.chatter import Chatter, Line
from loadtest.frames import Cue, Hello
from loadtest.server import Server
from loadtest.viewer import Received, Viewer, ViewerRefused, retry_wait
from tests.support.scripted_server import ScriptedServer, scripted_server

pytestmark = pytest.mark.integration


@pytest.fixture
def script() -> Iterator[ScriptedServer]:
    """The server."""
    with scripted_server() as running:
        yield running


@pytest.fixture
def silence(tmp_path: Path) -> str:
    """0.4 s of 16 kHz mono."""
    with wave.open(str(tmp_path / "silence.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(b"\1\0" * 6_400)
    return str(tmp_path / "silence.wav")


async def test_a_file_is_sent_whole_and_in_real_time(script: ScriptedServer, silence: str) -> None:
    broadcaster = Broadcaster(Server(url=script.url), "demo", silence)
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await broadcaster.run() == pytest.approx(0.4)
    assert 0.39 <= loop.time() - began < 2.0
    assert bytes(script.audio) == b"\1\0" * 6_400
    assert script.audio_start["sample_rate_hz"] == 16_000
    assert broadcaster.seconds == pytest.approx(0.4)
    left = [broadcaster.clock.when(second) for second in (0.04, 0.2, 0.4)]
    assert left == pytest.approx([began + 0.04, began + 0.2, began + 0.4], abs=0.3)


async def test_a_refused_broadcast_says_why(script: ScriptedServer, silence: str) -> None:
    script.audio_refusal = {"code": "unknown_room", "detail": "no such room", "hint": "make it", "reconnect": False}
    with pytest.raises(BroadcastError, match=r"no such room \(make it\)"):
        await Broadcaster(Server(url=script.url), "demo", silence).run()


async def test_no_server_is_said_plainly(silence: str) -> None:
    with pytest.raises(BroadcastError, match="can't be connected to"):
        await Broadcaster(Server(url="http://127.0.0.1:9"), "demo", silence).run()


async def test_comments_are_posted_when_due_and_refusals_counted(script: ScriptedServer) -> None:
    sent: dict[str, float] = {}
    refused: list[str] = []
    chatter = Chatter(Server(url=script.url), "demo", on_sent=sent.__setitem__, on_refused=refused.append)
    lines = [Line(t=t, author="A", lang="en", text=f"at {t}") for t in (0.0, 0.05, 0.1)]
    start = asyncio.get_running_loop().time()
    await chatter.play(lines, start)
    assert [comment["text"] for comment in script.comments] == ["at 0.0", "at 0.05", "at 0.1"]
    assert [comment["id"] for comment in script.comments] == list(sent)
    assert [at - start for at in sent.values()] == pytest.approx([0.0, 0.05, 0.1], abs=0.3)
    assert (chatter.accepted, refused) == (3, [])
    script.comment_status = 503
    await chatter.play(lines[:1], start)
    assert dict(chatter.refused) == {"busy": 1}
    assert len(refused) == 1


async def _next(received: AsyncIterator[Received]) -> Received:
    async with asyncio.timeout(10):
        return await anext(received)


async def test_a_viewer_comes_back_where_it_was(script: ScriptedServer) -> None:
    viewer = Viewer(Server(url=script.url), "demo", "zh-Hans", chance=lambda: 0.0)
    async with aclosing(viewer.frames()) as received:
        assert isinstance((await _next(received)).frame, Hello)
        script.cue("a", "zh-Hans", "一", "one")
        first = await _next(received)
        assert isinstance(first.frame, Cue)
        script.drop()
        script.cue("b", "zh-Hans", "二", "two")
        assert isinstance((await _next(received)).frame, Hello)
        second = (await _next(received)).frame
        assert isinstance(second, Cue)
        assert second.id == "b"
        assert script.joins[-1][1]["resume_from"] == "e1:1"


async def test_a_viewer_that_is_refused_for_good_says_why(script: ScriptedServer) -> None:
    with pytest.raises(ViewerRefused):
        async with aclosing(Viewer(Server(url=script.url), "elsewhere", "zh-Hans").frames()) as received:
            await _next(received)


def test_waits_before_a_new_try_double_up_to_ten_seconds() -> None:
    assert [retry_wait(attempt, 1.0) for attempt in (0, 1, 2, 9, 99)] == [0.25, 0.5, 1.0, 10.0, 10.0]
    assert retry_wait(9, 0.0) == 5.0
