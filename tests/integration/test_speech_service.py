"""Speech through the real service with the default models: from a broadcaster's socket to a viewer's subtitle."""

import asyncio
import re
import unicodedata
from pathlib import Path

import pytest

from engines.lid.han import is_traditional_only
from engines.lid.scripts import script_shares
from tests.support.material import clip, pcm, recordings, spoken
from tests.support.rooms import Frame, Room, Viewer, received, speak
from tests.support.servers import RunningServer, sampan

pytestmark = pytest.mark.integration

ENGLISH = "Good evening, everybody. The price today is twenty dollars."
PRICE = re.compile(r"twenty dollars|20 dollars|\$20", re.IGNORECASE)


async def speech(viewer: Viewer) -> list[Frame]:
    """Versions of all speech cues, once what has begun to be shown by now is final."""
    await viewer.connection.send('{"type": "ping", "client_time_ms": 0}')
    await viewer.until(lambda frame: frame["type"] == "pong")
    while open_cues(viewer):
        await viewer.until(lambda frame: frame["type"] in ("cue", "cue.retract"))
    cues = [cue for cue in viewer.cues if cue["kind"] == "speech"]
    Room.sent.extend(cue["source_text"] for cue in cues if len(cue["source_text"]) > 8)
    return cues


def open_cues(viewer: Viewer) -> set[str]:
    """Cues that have begun to be shown and neither ended nor been taken away."""
    cues = {frame["id"]: frame.get("final", True) for frame in viewer.frames if frame["type"].startswith("cue")}
    return {cue for cue, final in cues.items() if not final}


def joined(cues: list[Frame], field: str) -> str:
    return unicodedata.normalize("NFC", " ".join(cue[field] for cue in cues if cue["final"]))


def assert_source_came_before_the_end(cues: list[Frame]) -> None:
    """The source text is read while it is being spoken; revisions grow, and the last one is final."""
    assert not cues[0]["final"]
    assert cues[0]["source_text"]
    for identifier in {cue["id"] for cue in cues}:
        versions = [cue for cue in cues if cue["id"] == identifier]
        revisions = [cue["revision"] for cue in versions]
        assert revisions == sorted(set(revisions))
        assert [cue["final"] for cue in versions].index(True) == len(versions) - 1


async def test_english_that_was_synthesised_is_read_in_simplified_chinese(room: Room, tmp_path: Path) -> None:
    async with room.viewer("zh-Hans") as viewer:
        sound = spoken(ENGLISH, tmp_path)
        taken = await room.play(sound)
        cues = await speech(viewer)
    assert taken == pytest.approx(len(sound) / 16_000, abs=0.05)
    assert_source_came_before_the_end(cues)
    source, text = joined(cues, "source_text").lower(), joined(cues, "text")
    assert {cue["source_lang"] for cue in cues} == {"en"}
    assert "good evening" in source
    assert PRICE.search(source), source
    assert script_shares(text)["Han"] > 0.8, text
    assert re.search("美元|块|二十|20", text), text
    assert not any(map(is_traditional_only, text))
    spoken_at = [(cue["start"], cue["end"]) for cue in cues if cue["final"]]
    assert all(0 <= start < end <= taken + 0.5 for start, end in spoken_at)
    assert [cue["flags"] for cue in cues if cue["final"] and cue.get("flags")] == []


@pytest.mark.recordings
async def test_a_mandarin_request_is_read_in_english(room: Room) -> None:
    async with room.viewer("en") as viewer:
        await room.play(clip("zh-tv-request.flac"))
        cues = await speech(viewer)
    assert_source_came_before_the_end(cues)
    source, text = joined(cues, "source_text"), joined(cues, "text")
    assert {cue["source_lang"] for cue in cues if cue["final"]} == {"zh-Hans"}
    assert re.search("影视频道|节目|频道", source), source
    assert not any(map(is_traditional_only, source)), source
    assert re.search(r"\bwatch", text.lower()), text
    assert re.search("tv|television|channel|program", text.lower()), text


@pytest.mark.recordings
async def test_vietnamese_history_is_read_in_english_when_a_file_is_pushed(service: RunningServer, room: Room) -> None:
    file = recordings("speech") / "vi-history.flac"
    async with room.viewer("en") as viewer:
        pushed = sampan("push", str(file), "--room", room.name, "--server", service.url)
        cues = await speech(viewer)
    assert pushed.returncode == 0, pushed.stderr
    assert re.fullmatch(r"sent 6\.\d s\n", pushed.stdout)
    assert {cue["source_lang"] for cue in cues if cue["final"]} == {"vi"}
    text = joined(cues, "text")
    assert script_shares(text)["Latin"] > 0.9
    assert re.search(r"\b(the|in|of|century)\b", text.lower()), text


async def test_a_broadcaster_that_vanishes_in_the_middle_of_a_word_may_come_back(room: Room, tmp_path: Path) -> None:
    sound = spoken(ENGLISH, tmp_path)
    async with room.viewer("en") as viewer:
        async with room.broadcast() as connection:
            await speak(connection, sound[: len(sound) * 3 // 5])
            connection.transport.abort()
        first = await speech(viewer)
        seen = {cue["id"] for cue in first}
        await room.play(sound)
        again = [cue for cue in await speech(viewer) if cue["id"] not in seen]
    assert "good evening" in joined(first, "source_text").lower()
    assert PRICE.search(joined(again, "source_text"))


async def test_sound_that_comes_faster_than_it_is_spoken_is_slowed_down_and_not_lost(
    room: Room, tmp_path: Path
) -> None:
    sound = spoken(ENGLISH, tmp_path)
    loop = asyncio.get_running_loop()
    async with room.viewer("en") as viewer:
        began = loop.time()
        async with room.broadcast() as connection:
            await connection.send(pcm(sound))  # all at once, in one frame
            await connection.send('{"type": "audio.end"}')

            ended = await received(connection)
        took_s = loop.time() - began
        cues = await speech(viewer)
    assert ended["seconds"] == pytest.approx(len(sound) / 16_000, abs=0.05)
    assert took_s > ended["seconds"] - 2.0
    assert PRICE.search(joined(cues, "source_text"))
