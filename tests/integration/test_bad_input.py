"""What people and programs send by mistake or on purpose: each gets a clear typed error, nobody else notices."""

import asyncio
import json
import re
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.errors import ERRORS
from tests.support.material import write_wav
from tests.support.rooms import Room, Viewer, received
from tests.support.servers import RunningServer, sampan

pytestmark = pytest.mark.integration

SECOND = b"\0\0" * 16_000
ZALGO = "g" + "\u0301\u0489" * 400 + "ood"
START = {"type": "audio.start", "sample_rate_hz": 16_000}


@pytest.fixture(autouse=True)
def nobody_else_notices(service: RunningServer, http: httpx.Client) -> Iterator[None]:
    """After each test the server is well and another room works."""
    yield
    assert http.get("/healthz").status_code == 200
    with Room(service.url, "t-other") as other:
        other.comment("all is well in the other room")
    assert service.process.poll() is None


def assert_refused(response: httpx.Response, code: str) -> None:
    assert response.headers["content-type"] == "application/problem+json", response.text
    body = response.json()
    assert (response.status_code, body["status"], body["code"]) == (ERRORS[code].status, response.status_code, code)
    assert body["detail"]
    assert body["hint"]


async def assert_handshake_refused(connecting: connect, code: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connecting
    response = refused.value.response
    assert (response.status_code, json.loads(response.body or b"")["code"]) == (ERRORS[code].status, code)


async def ending(connection: Any) -> tuple[str | None, int]:
    """The code of the error frame, and the close code."""
    viewer = Viewer(connection)
    close_code = await viewer.closed()
    codes = [frame["code"] for frame in viewer.frames if frame["type"] == "error"]
    return (codes[0] if codes else None), close_code


async def assert_audio_refused(room: Room, code: str, *messages: str | bytes) -> None:
    async with room.socket("audio") as connection:
        with suppress(ConnectionClosed):  # some are refused before they have said a word
            for message in messages:
                await connection.send(message)
        assert await ending(connection) == (code, ERRORS[code].close_code)


@asynccontextmanager
async def content(room: Room) -> AsyncIterator[Viewer]:
    """A viewer of the same room who has to stay connected and read on."""
    async with room.viewer("en") as viewer:
        yield viewer
        await viewer.final(room.comment("and the stream goes on", lang="en"))


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/v1/rooms/nowhere", "unknown_room"),
        ("DELETE", "/v1/rooms/nowhere", "unknown_room"),
        ("POST", "/v1/rooms/nowhere/comments", "unknown_room"),
        ("GET", "/v1/rooms/nowhere/subtitles?lang=en", "unknown_room"),
        ("GET", "/x/nowhere", "not_found"),
        ("GET", "/v1/rooms/%E6%88%BF%E9%97%B4", "unknown_room"),
        ("GET", "/v1/rooms/%25", "unknown_room"),
        ("GET", "/v1/rooms/%00", "unknown_room"),
        ("GET", "/v1/rooms/%ff%fe", "unknown_room"),
        ("GET", "/v1/rooms/%2e%2e%2f%2e%2e", "not_found"),
        ("GET", "/v1/rooms/..%2f", "not_found"),
        ("GET", "/static/%2e%2e/%2e%2e/pyproject.toml", "not_found"),
        ("GET", "/static/..%2f..%2fpyproject.toml", "not_found"),
        ("GET", "/nothing", "not_found"),
        ("PUT", "/v1/rooms", "bad_method"),
        ("GET", "/v1/rooms/nowhere/comments", "bad_method"),
    ],
)
def test_what_is_not_there_is_said_to_be_so(http: httpx.Client, method: str, path: str, code: str) -> None:
    assert_refused(http.request(method, path), code)


@pytest.mark.parametrize("name", ["a/b", "..", ".", "%", "a b", "房间", "", "x" * 65, "a\n", "\x00"])
def test_names_that_no_room_may_have_are_refused(http: httpx.Client, name: str) -> None:
    assert_refused(http.post("/v1/rooms", json={"room": name}), "bad_request")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "bad_request"),
        (b"{", "bad_request"),
        (b"[]", "bad_request"),
        (b"null", "bad_request"),
        (b"\xff\xfe\x00", "bad_request"),
        (b"[" * 60_000, "bad_request"),
        (b'{"author": "a"}', "bad_request"),
        (b'{"text": 3}', "bad_request"),
        (b'{"text": "hello", "author": null}', "bad_request"),
        (b'{"text": "hello", "sent_at_ms": "now"}', "bad_request"),
        (b'{"text": "hello", "sent_at_ms": -1}', "bad_request"),
        (b'{"text": "hello", "sent_at_ms": 1' + b"0" * 400 + b"}", "bad_request"),
        (b'{"text": "hello", "id": ""}', "bad_request"),
        (b'{"text": "hello", "lang": "klingon"}', "unknown_language"),
        (b'{"text": "hello \\ud800"}', "bad_request"),
        (b'{"text": "hello", "id": "\\udfff"}', "bad_request"),
        (b'{"text": ""}', "comment_empty"),
        (b'{"text": " \\n\\t "}', "comment_empty"),
        (b'{"text": "\\u0000\\u0007\\u200b\\u202e"}', "comment_empty"),
        (b'{"text": "' + b"y" * 2_001 + b'"}', "comment_too_long"),
        (b'{"text": "' + b"y" * 70_000 + b'"}', "body_too_large"),
    ],
    ids=lambda value: value[:36] if isinstance(value, bytes) else None,
)
def test_comments_that_cant_be_shown_are_refused(room: Room, body: bytes, code: str) -> None:
    assert_refused(room.http.post(f"/v1/rooms/{room.name}/comments", content=body), code)


async def test_two_thousand_characters_and_stacked_marks_are_shown_in_bounds(room: Room) -> None:
    async with room.viewer("en") as viewer:
        long = await viewer.final(room.comment("a long story " * 153 + "the end", lang="en"))
        zalgo = await viewer.final(room.comment(ZALGO, author="\u202eeve\u0000", lang="en"))
    assert len(long["source_text"]) > 1_900
    assert len(zalgo["text"]) < 12
    assert zalgo["author"] == "eve"


def test_ten_megabytes_are_refused_before_they_are_taken(room: Room) -> None:
    path = f"/v1/rooms/{room.name}/comments"
    assert_refused(room.http.post(path, content=b"z" * 10_000_000), "body_too_large")
    parts = (b"z" * 100_000 for _ in range(100))  # no Content-Length
    assert_refused(room.http.post(path, content=parts), "body_too_large")


async def test_sockets_say_before_the_handshake_what_is_wrong(service: RunningServer, room: Room) -> None:
    rooms = f"ws{service.url.removeprefix('http')}/v1/rooms"
    for address, code in (
        ("nowhere/subtitles?lang=en", "unknown_room"),
        ("nowhere/audio", "unknown_room"),
        ("%2e%2e/audio", "unknown_room"),
        ("%2f..%2f/subtitles?lang=en", "unknown_room"),
        (f"{room.name}/subtitles", "unknown_language"),
        (f"{room.name}/subtitles?lang=tlh", "unknown_language"),
        (f"{room.name}/subtitles?lang=en&resume_from=yesterday", "bad_request"),
        (f"{room.name}/nothing", "not_found"),
    ):
        await assert_handshake_refused(connect(f"{rooms}/{address}", proxy=None), code)


EVIL_ORIGINS = ("https://evil.example", "null", "http://[", "https://127.0.0.1.evil.example")


@pytest.mark.parametrize("origin", EVIL_ORIGINS)
def test_pages_of_other_origins_may_not_call(room: Room, origin: str) -> None:
    response = room.http.post(f"/v1/rooms/{room.name}/comments", json={"text": "hello"}, headers={"origin": origin})
    assert_refused(response, "bad_origin")
    assert_refused(room.http.delete(f"/v1/rooms/{room.name}", headers={"origin": origin}), "bad_origin")


@pytest.mark.parametrize("origin", EVIL_ORIGINS)
async def test_pages_of_other_origins_may_not_open_sockets(room: Room, origin: str) -> None:
    await assert_handshake_refused(room.socket("subtitles?lang=en", origin=origin), "bad_origin")
    await assert_handshake_refused(room.socket("audio", origin=origin), "bad_origin")


async def test_our_own_pages_may_call_and_open_sockets(service: RunningServer, room: Room) -> None:
    async with room.viewer("en", origin=service.url) as viewer:
        await viewer.final(room.comment("a comment from our own page", lang="en"))
    body = {"room": room.name}
    assert_refused(room.http.post("/v1/rooms", json=body, headers={"origin": service.url}), "room_exists")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "192.168.1.4", "", "[", "0.0.0.0"])
def test_without_a_secret_other_names_are_not_answered(http: httpx.Client, host: str) -> None:
    assert_refused(http.get("/v1/rooms", headers={"host": host}), "bad_host")
    assert_refused(http.get("/r/any", headers={"host": host}), "bad_host")


async def test_without_a_secret_sockets_of_other_names_are_not_opened(service: RunningServer, room: Room) -> None:
    port = service.url.rpartition(":")[2]
    evil = f"ws://evil.example:{port}/v1/rooms/{room.name}/subtitles?lang=en"
    await assert_handshake_refused(connect(evil, host="127.0.0.1", proxy=None), "bad_host")


@pytest.mark.parametrize("host", ["localhost:8470", "127.0.0.1:8470", "127.0.0.1", "[::1]:8470", "LOCALHOST"])
def test_loopback_names_are_answered(http: httpx.Client, host: str) -> None:
    assert http.get("/v1/rooms", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("code", "first"),
    [
        ("bad_audio", {**START, "sample_rate_hz": 0}),
        ("bad_audio", {**START, "sample_rate_hz": -16_000}),
        ("bad_audio", {**START, "sample_rate_hz": 384_000}),
        ("bad_audio", {**START, "channels": 9}),
        ("bad_audio", {**START, "channels": 0}),
        ("bad_audio", {**START, "stream_start": -1.0}),
        ("bad_frame", {**START, "format": "mp3"}),
        ("bad_frame", {**START, "sample_rate_hz": "fast"}),
        ("bad_frame", {"type": "audio.begin"}),
        ("bad_frame", {"type": "audio.end"}),
        ("bad_frame", ["audio.start"]),
    ],
)
async def test_audio_that_cant_be_read_is_refused(room: Room, code: str, first: object) -> None:
    await assert_audio_refused(room, code, json.dumps(first))


@pytest.mark.parametrize(
    "messages",
    [
        (SECOND,),
        ("garbage",),
        (json.dumps(START), SECOND, "garbage"),
        (json.dumps(START), SECOND, json.dumps(START)),
        (json.dumps(START), '{"type": "ping", "client_time_ms": 1}'),
    ],
)
async def test_frames_in_the_wrong_place_end_a_broadcast(room: Room, messages: tuple[str | bytes, ...]) -> None:
    async with content(room):
        await assert_audio_refused(room, "bad_frame", *messages)


async def test_a_frame_over_a_megabyte_ends_a_broadcast(room: Room) -> None:
    async with content(room), room.broadcast() as connection:
        with suppress(ConnectionClosed):
            await connection.send(b"\0" * 5_000_000)
        assert (await ending(connection))[1] == 1009


async def test_audio_that_ends_in_the_middle_of_a_frame_is_taken_up_to_there(room: Room) -> None:
    async with room.broadcast(channels=2, format="f32le") as connection:
        await connection.send(b"\0" * (8 * 8_000 + 5))
        await connection.send(b"")
        await connection.send('{"type": "audio.end"}')
        assert await received(connection) == {"type": "audio.ended", "seconds": 0.5}


async def test_samples_that_are_no_numbers_do_no_harm(room: Room) -> None:
    noise = struct.pack("<4f", float("nan"), float("inf"), float("-inf"), 1e38) * 4_000
    async with content(room), room.broadcast(format="f32le") as connection:
        await connection.send(noise)
        await connection.send('{"type": "audio.end"}')
        assert (await received(connection))["seconds"] == 1.0


async def test_a_second_broadcaster_is_refused_while_the_first_goes_on(room: Room) -> None:
    async with room.broadcast() as first:
        await assert_audio_refused(room, "publisher_exists", json.dumps(START))
        await first.send(SECOND)
        await first.send('{"type": "audio.end"}')
        assert (await received(first))["seconds"] == 1.0
    assert await room.play(np.zeros(1_600, np.float32)) == pytest.approx(0.1)


async def test_a_viewer_that_sends_garbage_or_floods_pings_is_closed(room: Room) -> None:
    async with content(room):
        for garbage in ("garbage", b"\xff\xfe", '{"type": "audio.end"}', "{}"):
            async with room.viewer("en") as viewer:
                await viewer.connection.send(garbage)
                assert await ending(viewer.connection) == ("bad_frame", 4500)
        async with room.viewer("en") as viewer:
            for _ in range(40):
                await viewer.connection.send('{"type": "ping", "client_time_ms": 1}')
            assert await ending(viewer.connection) == ("too_many_requests", 4429)
        async with room.viewer("en") as viewer:
            await viewer.connection.send("z" * 100_000)
            assert await viewer.closed() == 1009


async def test_a_viewer_that_never_reads_is_closed_and_the_others_miss_nothing(
    service: RunningServer, room: Room
) -> None:
    closed = service.metric("sampan_slow_viewers_closed_total")
    async with content(room) as reader, room.viewer("en", max_queue=1) as stuck:
        stuck.connection.transport.pause_reading()
        posted: list[str] = []
        async with asyncio.timeout(25):
            while service.metric("sampan_slow_viewers_closed_total") == closed:
                posted.append(room.comment(f"{len(posted)} " + "很长的评论" * 380, lang="en"))
                await reader.final(posted[-1])
        stuck.connection.transport.resume_reading()
        assert await stuck.closed() == 4408
    assert len(stuck.cues) < len(posted)


async def test_closing_a_room_sends_its_viewers_and_its_broadcaster_away(service: RunningServer) -> None:
    with Room(service.url, "t-closing") as room:
        async with room.viewer("en") as first, room.viewer("vi") as second, room.broadcast() as broadcaster:
            await broadcaster.send(SECOND)
            async with asyncio.timeout(5), httpx.AsyncClient(base_url=service.url, trust_env=False) as client:
                response = await client.delete("/v1/rooms/t-closing")
            assert response.status_code == 204
            assert await first.closed() == 4410
            assert await second.closed() == 4410
            assert await ending(broadcaster) == ("room_closed", 4410)
        assert_refused(room.http.get("/v1/rooms/t-closing"), "unknown_room")
        assert room.http.post("/v1/rooms", json={"room": "t-closing"}).status_code == 201
        async with room.viewer("en") as viewer:
            await viewer.final(room.comment("the room is open again", lang="en"))


def test_push_says_in_one_line_why_a_file_cant_be_sent(service: RunningServer, room: Room, tmp_path: Path) -> None:
    text, silent = tmp_path / "notes.txt", tmp_path / "silent.wav"
    text.write_text("this is no recording of anybody\n" * 20)
    write_wav(np.zeros(0, np.float32), silent)
    sound = write_wav(np.zeros(1_600, np.float32), tmp_path / "sound.wav")
    for source, target, reason in (
        (text, room.name, "no audio"),
        (tmp_path / "missing.wav", room.name, "No such file"),
        (silent, room.name, "no audio"),
        (sound, "nowhere", "no room 'nowhere'|HTTP 404"),
    ):
        pushed = sampan("push", str(source), "--room", target, "--server", service.url)
        assert pushed.returncode == 1
        assert re.search(reason, pushed.stderr), pushed.stderr
        assert len(pushed.stderr.splitlines()) == 1, pushed.stderr
