"""Comments through the real service with the default translation model: what is read is translated, nothing else."""

import asyncio
import json
import re
import unicodedata
from collections.abc import AsyncGenerator, Callable

import httpx
import pytest

from app.auth import Scope, Tokens
from engines.lid.han import is_traditional_only
from engines.lid.scripts import script_shares
from tests.support.rooms import Frame, Room
from tests.support.servers import RunningServer, started_server, stop

pytestmark = pytest.mark.integration

SECRET = "a secret of thirty-two characters"
CHINESE = "主播你好,今天的水壶多少钱?"


def words(text: str) -> str:
    """The text without case, tones and other marks."""
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))


def is_han(text: str) -> bool:
    return script_shares(text)["Han"] > 0.8 and not any(map(is_traditional_only, text))


def is_thai(text: str) -> bool:
    return script_shares(text)["Thai"] > 0.8


def is_vietnamese(text: str) -> bool:
    return script_shares(text)["Latin"] > 0.8 and bool(re.search("[ăâđêôơưàáảãạèéẻẽẹìíỉĩịòóỏõọùúủũụ]", text.lower()))


def is_latin(text: str) -> bool:
    return script_shares(text)["Latin"] > 0.8


@pytest.mark.parametrize(
    ("lang", "right", "meaning"),
    [
        ("en", is_latin, "kettle|pot|much|price|cost"),
        ("vi", is_vietnamese, "bao nhieu|gia|binh|am"),
        ("th", is_thai, "."),
        ("id", is_latin, "berapa|harga|air|teko|ketel"),
    ],
)
async def test_a_chinese_comment_is_read_in_the_viewers_language_and_script(
    room: Room, lang: str, right: Callable[[str], bool], meaning: str
) -> None:
    async with room.viewer(lang) as viewer:
        cue = await viewer.final(room.comment(CHINESE, author="小鱼"))
    assert not cue.get("flags")
    assert (cue["lang"], cue["source_lang"], cue["source_text"]) == (lang, "zh-Hans", CHINESE)
    assert cue["route"] == "qwen2.5-coder-1.5b-instruct-q4_k_m"
    assert all(isinstance(at, int) for at in cue["ledger"].values())
    assert right(cue["text"]), cue["text"]
    assert re.search(meaning, words(cue["text"])), cue["text"]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("vi", "Chào chị, cái ấm này giá bao nhiêu vậy?"),
        ("id", "Kak, ketel ini harganya berapa ya?"),
        ("th", "สวัสดีค่ะ กาต้มน้ำราคาเท่าไหร่คะ"),
    ],
)
async def test_a_comment_from_south_east_asia_is_read_in_simplified_chinese(room: Room, lang: str, text: str) -> None:
    async with room.viewer("zh-Hans") as viewer:
        cue = await viewer.final(room.comment(text))
    assert not cue.get("flags")
    assert cue["source_lang"] == lang
    assert is_han(cue["text"]), cue["text"]
    assert re.search("[钱价]", cue["text"]), cue["text"]


async def test_readers_of_traditional_chinese_get_its_characters(room: Room) -> None:
    async with room.viewer("zh-Hant") as viewer:
        cue = await viewer.final(room.comment("How much is this kettle, and do you ship to Taiwan?"))
    assert script_shares(cue["text"])["Han"] > 0.6
    assert any(map(is_traditional_only, cue["text"])), cue["text"]


async def test_a_comment_in_the_readers_own_language_comes_as_it_is(room: Room) -> None:
    async with room.viewer("en") as viewer:
        cue = await viewer.final(room.comment("that kettle looks really good to me", author="Ann"))
    assert (cue["text"], cue["flags"], cue["author"]) == ("that kettle looks really good to me", ["original"], "Ann")


async def test_only_languages_that_somebody_reads_are_translated(service: RunningServer, room: Room) -> None:
    def translated() -> tuple[float, float]:
        """Cues that were translated, and calls of the model."""
        return (
            service.metric("sampan_cues_total", path="comment", result="translated"),
            service.metric("sampan_infer_seconds_count", engine="llama.cpp", pair="zh-Hans>en"),
        )

    with Room(service.url, "t-unread") as unread:
        async with room.viewer("en") as viewer:
            await viewer.final(room.comment("大家晚上好,欢迎来到直播间", lang="zh-Hans"))
            cues, calls = translated()
            for number in range(8):
                unread.comment(f"这条评论没有人看,编号是{number}", lang="zh-Hans")
            await viewer.final(room.comment("这个颜色我很喜欢,还有别的吗", lang="zh-Hans"))
        cues_after, calls_after = translated()
    assert cues_after - cues == 1
    assert calls_after - calls <= 6  # one comment; the room may still be getting ready for its usual five pairs


async def test_a_language_opened_later_starts_with_the_last_cues_and_goes_on_with_the_next(room: Room) -> None:
    texts = ["水壶是不锈钢的吗", "可以货到付款吗", "什么时候发货"]
    async with room.viewer("en") as first:
        before = [room.comment(text) for text in texts]
        for identifier in before:
            await first.final(identifier)
        async with room.viewer("vi") as late:
            for identifier in before:
                assert is_latin((await late.final(identifier))["text"])
            after = room.comment("有没有红色的")
            cue = await late.final(after)
            assert [frame["id"] for frame in late.cues][-1] == after
            assert cue["lang"] == "vi"
            await first.final(after)


async def test_a_viewer_that_comes_back_gets_what_it_missed_once_and_in_order(room: Room) -> None:
    async with room.viewer("en") as stays:
        async with room.viewer("en") as leaves:
            await leaves.final(room.comment("see you in a minute everybody", lang="en"))
            position = leaves.position
            leaves.connection.transport.abort()
        missed = [room.comment(f"you have missed number {number}", lang="en") for number in range(3)]
        await stays.final(missed[-1])
        async with room.viewer("en", f"&resume_from={position}") as back:
            await back.final(room.comment("welcome back to the stream", lang="en"))
    assert [cue["id"] for cue in back.cues][:3] == missed
    assert len(back.cues) == 4
    assert [cue["seq"] for cue in back.cues] == sorted(cue["seq"] for cue in back.cues)
    assert not [frame for frame in back.frames if frame["type"] == "gap"]


async def test_a_place_in_another_epoch_is_answered_with_a_gap(room: Room) -> None:
    async with room.viewer("en", "&resume_from=0:7") as viewer:
        await viewer.final(room.comment("this is the first one here", lang="en"))
    assert "gap" in [frame["type"] for frame in viewer.frames]


async def events(client: httpx.AsyncClient, path: str, **headers: str) -> AsyncGenerator[tuple[str, Frame], None]:
    """Id and frame of each event."""
    async with client.stream("GET", path, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        place = ""
        async for line in response.aiter_lines():
            if line.startswith("id: "):
                place = line.removeprefix("id: ")
            elif line.startswith("data: "):
                yield place, json.loads(line.removeprefix("data: "))


async def next_cue(stream: AsyncGenerator[tuple[str, Frame], None]) -> tuple[str, Frame]:
    """The next final cue and where it is in the stream."""
    return await anext((place, frame) async for place, frame in stream if frame.get("final"))


async def test_event_streams_carry_the_same_cues_and_resume(service: RunningServer, room: Room) -> None:
    path = f"/v1/rooms/{room.name}/subtitles?lang=en"
    async with httpx.AsyncClient(base_url=service.url, trust_env=False) as client, asyncio.timeout(30):
        async with room.viewer("en") as viewer:
            stream = events(client, path)
            assert (await anext(stream))[1]["type"] == "hello"
            wanted = room.comment("请问这个水壶能用多久")
            place, cue = await next_cue(stream)
            assert cue == await viewer.final(wanted)
            await stream.aclose()
            missed = room.comment("nobody is there to hear this one", lang="en")
            await viewer.final(missed)
        again = events(client, path, **{"last-event-id": place})
        assert (await next_cue(again))[1]["id"] == missed
        await again.aclose()


def test_health_readiness_and_metrics_answer(http: httpx.Client) -> None:
    assert http.get("/healthz").json() == {"status": "alive"}
    assert http.get("/readyz").json() == {"status": "ready"}
    metrics = http.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain")
    for series in ("sampan_infer_seconds", "sampan_stage_seconds", "sampan_viewers", "sampan_engine_up"):
        assert series in metrics.text


def test_rooms_are_made_shown_listed_and_closed(http: httpx.Client) -> None:
    body = {"room": "t-made", "sources": ["zh-Hans"], "targets": ["en", "vi"], "tier": "premium", "hide_personal": True}
    made = http.post("/v1/rooms", json=body)
    shown = body | {"ingest": "idle", "load": "normal"}
    assert (made.status_code, made.headers["location"], made.json()) == (201, "/v1/rooms/t-made", shown)
    assert http.get("/v1/rooms/t-made").json() == shown
    assert shown in http.get("/v1/rooms").json()
    assert http.delete("/v1/rooms/t-made").status_code == 204
    assert http.get("/v1/rooms/t-made").status_code == 404


async def test_with_a_secret_each_scope_opens_its_own_doors() -> None:
    tokens = Tokens(SECRET)

    def token(room: str, *scopes: Scope) -> str:
        return tokens.issue(room=room, scopes=frozenset(scopes), ttl_s=60)

    with started_server(SAMPAN_AUTH_SECRET=SECRET) as server:  # works before its models do

        def status(method: str, path: str, shown: str | None, json: object = None, **headers: str) -> int:
            headers |= {"authorization": f"Bearer {shown}"} if shown else {}
            return httpx.request(method, server.url + path, headers=headers, json=json, trust_env=False).status_code

        view, comment = token("mine", Scope.VIEW), token("mine", Scope.COMMENT)
        assert status("GET", "/v1/rooms", None) == 401
        assert status("GET", "/metrics", None) == 401
        assert status("GET", "/metrics", view) == 403
        assert status("GET", "/v1/rooms", "not.a.token") == 401
        assert status("POST", "/v1/rooms", view, {"room": "mine"}) == 403
        assert status("GET", "/healthz", None) == 200
        assert status("GET", "/v1/rooms", token("*", Scope.ADMIN), host="other.example") == 200
        with Room(server.url, "mine", token=token("mine", Scope.ADMIN)) as room:
            assert status("GET", "/v1/rooms/mine", view) == 200
            assert status("GET", "/v1/rooms/mine", token("other", Scope.ADMIN)) == 403
            assert status("POST", "/v1/rooms/mine/comments", view, {"text": "hello"}) == 403
            async with room.viewer("en") as viewer:
                assert status("POST", "/v1/rooms/mine/comments", comment, {"text": "hello there", "id": "c"}) == 202
                assert (await viewer.final("c"))["source_text"] == "hello there"
            with pytest.raises(Exception, match="HTTP 403"):
                await room.socket("audio", additional_headers={"authorization": f"Bearer {view}"})
            with pytest.raises(Exception, match="HTTP 401"):
                await room.socket("subtitles?lang=en", additional_headers={})
        assert stop(server) == 0
