"""Delivery end to end: uvicorn, FastAPI and the viewers' sockets on one loopback port, in one loop."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import httpx
import pytest
import pytest_asyncio
from prometheus_client import REGISTRY
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.delivery.hub import HubSettings
from app.delivery.viewer import ViewerLimits
from app.wire import RoomState
from tests.support.delivery_server import DeliveryServer, cue, delivery_server

pytestmark = pytest.mark.integration

SETTINGS = HubSettings(max_viewers=250, viewer=ViewerLimits(patience_s=0.5))


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DeliveryServer]:
    async with delivery_server(SETTINGS) as running:
        running.hub.open("r")
        yield running
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert running.hub.viewers == 0


def viewer(server: DeliveryServer, query: str = "lang=en", **options: Any) -> connect:
    return connect(server.url("r", query), compression=None, proxy=None, close_timeout=0.5, **options)


async def read(connection: ClientConnection, count: int) -> list[dict[str, Any]]:
    """The next frames, the room's state left out."""
    frames: list[dict[str, Any]] = []
    async with asyncio.timeout(5):
        while len(frames) < count:
            frame = json.loads(await connection.recv())
            frames += [frame] if frame["type"] != "state" else []
    return frames


async def closed(connection: ClientConnection) -> tuple[int, list[dict[str, Any]]]:
    """The close code, and what came before it."""
    frames = []
    async with asyncio.timeout(10):
        with suppress(ConnectionClosed):
            while True:
                frames.append(json.loads(await connection.recv()))
    assert connection.close_code is not None
    return connection.close_code, frames


async def refusal(connecting: connect) -> tuple[int, str]:
    """HTTP status and problem code of a refused handshake."""
    with pytest.raises(InvalidStatus) as refused:
        await connecting
    response = refused.value.response
    assert response.headers["content-type"] == "application/problem+json"
    return response.status_code, json.loads(response.body)["code"]


async def test_two_hundred_viewers_of_two_languages_get_each_cue_once(server: DeliveryServer) -> None:
    viewers = await asyncio.gather(*(viewer(server, f"lang={'en' if n % 2 else 'vi'}") for n in range(200)))
    for number in range(20):
        for language in ("en", "vi"):
            server.hub.publish(cue("r", language, number, text=f"{language} {number}"))
        await asyncio.sleep(0)
    for n, connection in enumerate(viewers):
        hello, *cues = await read(connection, 21)
        language = "en" if n % 2 else "vi"
        assert (hello["type"], hello["lang"], hello["seq"], hello["protocol"]) == ("hello", language, 0, 1)
        assert [one["text"] for one in cues] == [f"{language} {number}" for number in range(20)]
        assert [one["seq"] for one in cues] == list(range(1, 21))
    await asyncio.gather(*(connection.close() for connection in viewers))


async def test_a_viewer_is_told_how_the_room_is_when_it_comes_and_when_that_changes(server: DeliveryServer) -> None:
    async with viewer(server) as connection, asyncio.timeout(5):
        assert json.loads(await connection.recv())["type"] == "hello"
        assert json.loads(await connection.recv()) == {"type": "state", "ingest": "idle"}
        server.hub.show("r", RoomState(ingest="live"))
        assert json.loads(await connection.recv()) == {"type": "state", "ingest": "live"}


async def test_a_viewer_that_was_cut_off_gets_what_it_missed_and_nothing_twice(server: DeliveryServer) -> None:
    async with viewer(server) as first:
        for number in (1, 2):
            server.hub.publish(cue("r", "en", number))
        hello, *_, last = await read(first, 3)
        first.transport.abort()
    server.hub.publish(cue("r", "en", 3, revision=0, final=False))
    server.hub.publish(cue("r", "en", 3, revision=1))
    server.hub.publish(cue("r", "en", 4))
    async with viewer(server, f"lang=en&resume_from={hello['epoch']}:{last['seq']}") as again:
        server.hub.publish(cue("r", "en", 5))
        _, *missed = await read(again, 4)
        assert [(one["id"], one["seq"]) for one in missed] == [("c3", 4), ("c4", 5), ("c5", 6)]


async def test_a_place_that_is_no_longer_held_is_told_as_a_gap(server: DeliveryServer) -> None:
    for number in range(600):
        server.hub.publish(cue("r", "en", number))
    async with viewer(server) as fresh:
        hello, *last = await read(fresh, 9)
        assert [one["id"] for one in last] == [f"c{number}" for number in range(592, 600)]
    async with viewer(server, f"lang=en&resume_from={hello['epoch']}:3") as late:
        hello, gap, *held = await read(late, 2 + 512)
        assert gap == {"type": "gap", "epoch": hello["epoch"], "next_seq": 89}
        assert [one["seq"] for one in held] == list(range(89, 601))
    async with viewer(server, "lang=en&resume_from=00000000:600") as stranger:
        assert [one["type"] for one in await read(stranger, 3)] == ["hello", "gap", "cue"]


def deaf_client(server: DeliveryServer) -> socket.socket:
    """A viewer that connects and then reads nothing."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", server.port))
    path = server.url("r", "lang=en").split(str(server.port), 1)[1]
    raw.sendall(
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    return raw


async def until(true: Callable[[], bool]) -> None:
    """Nobody is told of what is waited for here, so look again and again."""
    async with asyncio.timeout(5):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def until_viewers(server: DeliveryServer, count: int) -> None:
    await until(lambda: server.hub.viewers == count)


def slow_viewers_closed() -> float:
    return REGISTRY.get_sample_value("sampan_slow_viewers_closed_total") or 0.0


async def test_a_viewer_that_never_reads_is_closed_as_slow_and_the_others_notice_nothing(
    server: DeliveryServer,
) -> None:
    deaf, before = deaf_client(server), slow_viewers_closed()
    await until_viewers(server, 1)
    async with viewer(server) as good:
        await read(good, 1)
        for number in range(1000):
            server.hub.publish(cue("r", "en", number, text="x" * 500))
            assert [one["seq"] for one in await read(good, 1)] == [number + 1]
        await until(lambda: slow_viewers_closed() == before + 1)
        received = await asyncio.get_running_loop().run_in_executor(None, everything, deaf)
        assert struct.pack("!H", 4408) + b"slow_reader" in received[-20:]
        assert len(received) < 200_000  # of 700,000 published
    deaf.close()


def everything(raw: socket.socket) -> bytes:
    """What a socket still has, up to a close frame."""
    raw.settimeout(5)
    received = b""
    while b"slow_reader" not in received and (part := raw.recv(65_536)):
        received += part
    return received


async def test_a_client_that_floods_control_pings_and_never_reads_is_cut_off(server: DeliveryServer) -> None:
    deaf = deaf_client(server)
    deaf.setblocking(False)
    await until_viewers(server, 1)
    ping = (b"\x89\xfd\0\0\0\0" + b"p" * 125) * 100

    async def flood() -> None:
        while True:
            await asyncio.get_running_loop().sock_sendall(deaf, ping)

    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        await asyncio.wait_for(flood(), 10)
    deaf.close()
    await until_viewers(server, 0)


async def test_a_ping_is_answered_with_the_client_s_time_and_the_server_s(server: DeliveryServer) -> None:
    async with viewer(server) as connection:
        await read(connection, 1)
        before = server.clock.now_ms()
        await connection.send('{"type":"ping","client_time_ms":12.5}')
        (pong,) = await read(connection, 1)
        assert (pong["type"], pong["client_time_ms"]) == ("pong", 12.5)
        assert before <= pong["server_time_ms"] <= server.clock.now_ms()


@pytest.mark.parametrize(
    "message", ["", "{}", "null", '{"type":"audio.end"}', '{"type":"ping"}', b"\xff", "[" * 9000, '{"type":"cue"}']
)
async def test_any_other_frame_is_told_what_is_wrong_and_closed(server: DeliveryServer, message: str | bytes) -> None:
    async with viewer(server) as connection:
        await connection.send(message)
        code, frames = await closed(connection)
        assert (code, frames[-1]["type"], frames[-1]["code"]) == (4500, "error", "bad_frame")
        assert frames[-1]["reconnect"] is False


async def test_a_message_over_64_kib_is_refused(server: DeliveryServer) -> None:
    async with viewer(server) as connection:
        await connection.send("x" * 65_537)
        code, _ = await closed(connection)
        assert code == 1009


async def test_a_flood_of_pings_is_closed_as_too_many(server: DeliveryServer) -> None:
    async with viewer(server) as connection:
        for _ in range(22):
            await connection.send('{"type":"ping","client_time_ms":1}')
        code, frames = await closed(connection)
        assert (code, frames[-1]["code"], frames[-1]["reconnect"]) == (4429, "too_many_requests", True)


async def test_a_closed_room_closes_its_viewers(server: DeliveryServer) -> None:
    async with viewer(server) as connection:
        await read(connection, 1)
        server.hub.close("r")
        code, _ = await closed(connection)
        assert code == 4410


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", (400, "unknown_language")),
        ("lang=ja", (400, "unknown_language")),
        ("lang=en&resume_from=7", (400, "bad_request")),
        ("lang=en&token=forged", (401, "bad_token")),
    ],
)
async def test_a_wrong_request_is_refused_in_the_handshake(
    server: DeliveryServer, query: str, expected: tuple[int, str]
) -> None:
    assert await refusal(viewer(server, query)) == expected


async def test_unknown_rooms_paths_and_origins_are_refused_in_the_handshake(server: DeliveryServer) -> None:
    url = server.url("r", "lang=en")
    assert await refusal(connect(url.replace("/r/", "/other/"), proxy=None)) == (404, "unknown_room")
    assert await refusal(connect(url.replace("/v1/", "/v2/"), proxy=None)) == (404, "not_found")
    assert await refusal(viewer(server, origin="https://evil.example")) == (403, "bad_origin")
    twice = [("Authorization", "Bearer a"), ("Authorization", "Bearer b")]
    assert await refusal(viewer(server, additional_headers=twice)) == (400, "bad_request")


async def test_pages_of_the_server_and_of_allowed_origins_may_connect(server: DeliveryServer) -> None:
    for origin in (f"http://127.0.0.1:{server.port}", "https://allowed.example"):
        async with viewer(server, origin=origin) as connection:
            await read(connection, 1)


async def test_a_full_node_says_when_to_come_back(server: DeliveryServer) -> None:
    viewers = await asyncio.gather(*(viewer(server) for _ in range(250)))
    with pytest.raises(InvalidStatus) as refused:
        await viewer(server)
    assert (refused.value.response.status_code, refused.value.response.headers["retry-after"]) == (503, "10")
    await asyncio.gather(*(connection.close() for connection in viewers))


async def test_the_same_port_serves_the_same_cues_as_server_sent_events(server: DeliveryServer) -> None:
    url = f"http://127.0.0.1:{server.port}/events/r?lang=en"
    async with httpx.AsyncClient(trust_env=False) as client, client.stream("GET", url) as response:
        lines = response.aiter_lines()
        async with asyncio.timeout(5):
            data = [line async for line in _until(lines, '"hello"')]
            server.hub.publish(cue("r", "en", 1))
            data += [line async for line in _until(lines, '"cue"')]
        assert any(line.startswith("id: ") and line.endswith(":1") for line in data)
    await until_viewers(server, 0)


async def _until(lines: AsyncIterator[str], end: str) -> AsyncIterator[str]:
    async for line in lines:
        yield line
        if end in line:
            return


async def test_at_the_end_viewers_are_told_that_the_server_goes_away() -> None:
    async with delivery_server(SETTINGS) as server:
        server.hub.open("r")
        connection = await viewer(server)
        await read(connection, 1)
        closing = asyncio.ensure_future(closed(connection))
    assert (await closing)[0] == 1001
