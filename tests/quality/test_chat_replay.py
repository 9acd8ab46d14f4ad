"""A busy room's real chat, thirteen languages, replayed at ten times its pace: every comment is accounted for."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.material import recordings
from tests.support.rooms import Frame, Room, Viewer
from tests.support.servers import RunningServer, running_server

pytestmark = [pytest.mark.quality, pytest.mark.recordings]

PACE = 10.0
LINES = 800


@pytest.fixture(scope="module")
def busy() -> Iterator[RunningServer]:
    """A server with the settings that everybody has."""
    with running_server() as server:
        yield server


async def replay(server: RunningServer) -> tuple[list[str], dict[str, Frame]]:
    """The ids of the comments that were sent, and each cue's last version."""
    text = (recordings("chat") / "busy-room.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()[:LINES]]
    loop = asyncio.get_running_loop()
    sent: list[str] = []
    cues: dict[str, Frame] = {}

    async def read(viewer: Viewer) -> None:
        while sum(cue.get("count", 1) for cue in cues.values() if cue["final"]) < len(lines):
            frame = await viewer.until(lambda frame: frame["type"] == "cue")
            viewer.frames.clear()
            cues[frame["id"]] = frame

    with Room(server.url, "busy") as room:
        async with room.viewer("en") as viewer, asyncio.TaskGroup() as tasks, asyncio.timeout(300):
            reading = tasks.create_task(read(viewer))
            began = loop.time()
            for line in lines:
                await asyncio.sleep(began + line["t"] / PACE - loop.time())
                fields = {"author": line["user"], "first": bool(line.get("paid"))}
                sent.append(
                    await loop.run_in_executor(None, lambda text=line["text"], f=fields: room.comment(text, **f))
                )
            await reading
    return sent, cues


def test_every_comment_of_a_busy_room_is_shown_counted_or_marked(busy: RunningServer) -> None:
    sent, cues = asyncio.run(replay(busy))
    assert set(cues) <= set(sent)
    assert all(cue["final"] and cue["text"] for cue in cues.values())
    merged = len(sent) - len(cues)
    results = Counter(
        cue.get("reason") or ("model" if cue["ledger"].get("inferred") else "signs only") for cue in cues.values()
    )
    hits = busy.metric("sampan_cache_total", result="hit") + busy.metric("sampan_cache_total", result="joined")
    assert sum(results.values()) + merged == len(sent)
    without = len(sent) - results["model"] + hits
    print(
        f"{len(sent)} comments at {PACE:g}x: {merged} counted with others, {hits:.0f} from the cache, {dict(results)}"
    )
    print(f"answered without the model: {without / len(sent):.0%}")
    assert busy.process.poll() is None
