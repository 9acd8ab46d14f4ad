"""Chat lines through the whole service: names, prices, addresses kept, nothing invented, the plain meaning there."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

from engines.languages import LanguageTag
from tests.quality.cases import ChatCase, checks, failures, load
from tests.support.rooms import Room
from tests.support.servers import RunningServer, running_server

pytestmark = pytest.mark.quality

SHARE = 0.95
AT_ONCE = 24  # a queue holds 64 of a room
KEPT = frozenset({"name", "url", "tag", "emote", "emoji", "code", "price", "untouched", "personal"})


@pytest.fixture(scope="module")
def patient() -> Iterator[RunningServer]:
    """A server that is given all the time it needs and merges nothing."""
    with running_server(SAMPAN_TRANSLATOR_COMMENT_DEADLINE_S="60", SAMPAN_REPEATS_WINDOW_S="0") as server:
        yield server


async def translated(server: RunningServer, cases: list[ChatCase], target: LanguageTag) -> dict[str, str]:
    """Each case's text in the target's cue, by the case's id."""
    said: dict[str, str] = {}
    with Room(server.url, f"cases-{target}") as room:
        async with room.viewer(target) as viewer:
            for at in range(0, len(cases), AT_ONCE):
                posted = {room.comment(case.text, lang=case.source): case for case in cases[at : at + AT_ONCE]}
                for comment, case in posted.items():
                    said[case.id] = (await viewer.final(comment))["text"]
    return said


def test_chat_lines_keep_what_they_must_and_say_what_they_mean(patient: RunningServer) -> None:
    looked_at, wrong = Counter[str](), Counter[str]()
    for target in dict.fromkeys(case.target for case in load()):
        cases = [case for case in load() if case.target == target]
        said = asyncio.run(translated(patient, cases, target))
        for case in cases:
            looked_at[case.kind] += checks(case)
            for failure in failures(case, said[case.id]):
                wrong[case.kind] += 1
                print(f"{case.id} {case.text!r} {failure}")
    passed = 1 - wrong.total() / looked_at.total()
    print(f"{passed:.1%} of {looked_at.total()} checks passed; wrong by kind: {dict(wrong)} of {dict(looked_at)}")
    assert passed >= SHARE
    assert sum(wrong[kind] for kind in KEPT) <= 0.02 * sum(looked_at[kind] for kind in KEPT)
