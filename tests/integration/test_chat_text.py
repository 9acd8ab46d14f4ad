"""What chats are full of, through the real service: names, addresses, prices, personal data, repeats, own words."""

import asyncio
import re

import pytest

from tests.support.rooms import Room
from tests.support.servers import RunningServer

pytestmark = pytest.mark.integration

TSV = {"content-type": "text/tab-separated-values"}


@pytest.mark.parametrize(
    ("text", "lang", "kept"),
    [
        ("@bob_1 这个怎么样 https://a.example/x?y=1 😂😂", "en", ["@bob_1 ", "https://a.example/x?y=1", "😂😂"]),
        ("这个锅99元包邮吗？", "en", ["99 yuan"]),
        ("这个锅99元包邮吗？", "vi", ["99 tệ"]),
        ("买A7M4还是RTX4090好？", "en", ["A7M4", "RTX4090"]),
        ("加我微信 host_8866 或者打13812345670", "en", ["host_8866", "13812345670"]),
        ("harganya 99rb aja kak?", "zh-Hans", ["99,000印尼盾"]),
    ],
)
async def test_what_is_not_to_be_translated_is_in_the_cue_as_it_was(
    room: Room, text: str, lang: str, kept: list[str]
) -> None:
    async with room.viewer(lang) as viewer:
        cue = await viewer.final(room.comment(text))
    assert not cue.get("flags"), cue
    assert [part for part in kept if part not in cue["text"]] == [], cue["text"]
    assert not re.search(r"\$|dollar|€", cue["text"])


async def test_personal_data_is_counted_and_a_room_may_hide_it(service: RunningServer) -> None:
    before = service.metric("sampan_masked_total", kind="phone")
    with Room(service.url, "t-hides", hide_personal=True) as room:
        async with room.viewer("zh-Hans") as viewer:
            cue = await viewer.final(room.comment("打13812345670给我"))
    assert (cue["text"], cue["source_text"]) == ("打•••给我", "打•••给我")
    assert service.metric("sampan_masked_total", kind="phone") == before + 1


async def test_a_comment_that_is_shown_as_it_is_says_why(service: RunningServer, room: Room) -> None:
    before = service.metric("sampan_untranslated_total", path="comment", reason="interpreted")
    async with room.viewer("en") as viewer:
        cues = [
            await viewer.final(room.comment(text)) for text in ("[EN] it is sold out", "👍👍", "nice color, I like it")
        ]
    assert [(cue["flags"], cue["reason"]) for cue in cues] == [
        (["original"], "interpreted"),
        (["original"], "no_words"),
        (["original"], "own_language"),
    ]
    assert service.metric("sampan_untranslated_total", path="comment", reason="interpreted") == before + 1


async def test_what_many_write_is_one_cue_with_a_count(room: Room) -> None:
    async with room.viewer("en") as viewer:
        first = room.comment("主播唱首歌吧")
        await viewer.final(first)
        for number in range(5):
            room.comment(f"主播唱首歌吧{'！' * number}")
        cue = await viewer.until(lambda frame: frame.get("id") == first and frame.get("count") == 6)
    assert {frame["id"] for frame in viewer.cues} == {first}
    assert cue["final"]


async def test_a_rooms_own_words_are_said_its_way_and_before_the_nodes(room: Room) -> None:
    table = "zh-Hans\ten\n老爹茶\tLao Die Tea\n老爹\t老爹\n"
    answer = room.http.put(f"/v1/rooms/{room.name}/glossary", content=table.encode(), headers=TSV)
    assert (answer.status_code, answer.json()) == (200, {"rows": 2})
    nodes = "zh-Hans\ten\n老爹茶\tX Tea\n海风锅\tSeabreeze Wok\n"
    node = room.http.put("/v1/glossary", content=nodes.encode(), headers=TSV)
    assert node.json() == {"rows": 2}
    try:
        async with room.viewer("en") as viewer:
            cue = await viewer.final(room.comment("老爹茶和海风锅哪个好？"))
            assert "Lao Die Tea" in cue["text"]
            assert "Seabreeze Wok" in cue["text"]
            room.http.delete(f"/v1/rooms/{room.name}/glossary").raise_for_status()
            assert "X Tea" in (await viewer.final(room.comment("我要买老爹茶")))["text"]
        assert room.http.get("/v1/glossary").text.startswith("en\tzh-Hans\n")
    finally:
        room.http.delete("/v1/glossary").raise_for_status()


@pytest.mark.parametrize(
    ("body", "detail"),
    [(b"", "empty"), (b"zh-Hans\txx\n", "line 1"), (b"\xff\xfe", "UTF-8"), (b"a" * 3_000_000, "bytes")],
)
async def test_what_is_no_glossary_is_refused_with_what_is_wrong(room: Room, body: bytes, detail: str) -> None:
    answer = room.http.put(f"/v1/rooms/{room.name}/glossary", content=body, headers=TSV)
    assert answer.status_code in (400, 413)
    assert detail in answer.json()["detail"]


async def test_a_paid_comment_goes_before_a_flood(room: Room) -> None:
    async with room.viewer("en") as viewer:
        flood = [room.comment(f"第{number}号商品还有没有货，可不可以便宜一点") for number in range(20)]
        paid = room.comment("谢谢主播，我很喜欢你的歌", first=True)
        shown: list[str] = []
        async with asyncio.timeout(60):
            while paid not in shown:
                frame = await viewer.until(lambda frame: frame["type"] == "cue" and frame["final"])
                shown.append(frame["id"])
    assert len(set(flood) - set(shown)) >= 8
