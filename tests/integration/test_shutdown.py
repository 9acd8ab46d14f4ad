"""How the service starts when it can't, and how it ends when it is told to."""

import asyncio
import signal
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.support.rooms import Room, speak
from tests.support.servers import sampan, started_server, stop

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_a_live_room_in_good_order(number: signal.Signals) -> None:
    loop = asyncio.get_running_loop()
    noise = np.random.default_rng(1).uniform(-0.2, 0.2, 16_000).astype(np.float32)
    with started_server() as server:
        room = Room(server.url, "live")
        room.http.post("/v1/rooms", json={"room": "live"}).raise_for_status()
        async with AsyncExitStack() as connections:
            viewers = [await connections.enter_async_context(room.viewer(lang)) for lang in ("en", "vi")]
            broadcaster = await connections.enter_async_context(room.broadcast())
            events = httpx.AsyncClient(base_url=server.url, trust_env=False)
            client = await connections.enter_async_context(events)
            stream = await connections.enter_async_context(client.stream("GET", "/v1/rooms/live/subtitles?lang=th"))
            await viewers[0].final(room.comment("主播晚上好", lang="zh-Hans"))  # models are at work
            await speak(broadcaster, noise)
            for count in range(20):
                room.comment(f"主播请问这是第{count}个问题吗", lang="zh-Hans")
            ended = loop.run_in_executor(None, stop, server, number)
            assert [await viewer.closed() for viewer in viewers] == [1001, 1001]
            await broadcaster.wait_closed()
            assert broadcaster.close_code == 1001
            assert "hello" in (await stream.aread()).decode()
            assert await ended == 0
        room.http.close()
        assert "Traceback" not in server.stderr
        assert "task_failed" not in server.stderr
        assert "主播请问" not in server.stderr


def test_a_signal_while_models_are_loaded_ends_it_too() -> None:
    with started_server() as server:
        assert stop(server) == 0
        assert "Traceback" not in server.stderr


def refused(code: int, *arguments: str, **environment: str) -> str:
    """What `sampan serve` says on standard error when it ends at once, which it has to do with `code`."""
    ended = sampan("serve", *arguments, **environment)
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    assert not ended.stdout
    return ended.stderr


def test_a_port_that_is_taken_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        head, line = refused(2, "--port", port).splitlines()
    assert "can't listen" in head
    assert port in line
    assert "in use" in line


def test_beyond_loopback_a_secret_is_asked_for() -> None:
    said = refused(2, "--host", "0.0.0.0")
    assert "server.host = '0.0.0.0'" in said
    assert "auth.secret" in said


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[server\nport = 1", ["is not TOML", "line 1"]),
        ('[server]\nport = "many"\nhots = "x"\n[nonsense]\n', ["server.port = 'many'", "server.hots", "nonsense"]),
        ('[auth]\nsecret = "short"\n', ["auth.secret", "32"]),
        ('[[rooms]]\nroom = "a/b"\ntargets = ["tlh"]\n', ["rooms.room = 'a/b'", "'tlh'"]),
    ],
)
def test_a_broken_configuration_is_said_key_by_key(tmp_path: Path, text: str, parts: list[str]) -> None:
    file = tmp_path / "sampan.toml"
    file.write_text(text)
    said = refused(2, "--config", str(file))
    assert not [part for part in parts if part not in said], said


def test_a_configuration_that_is_not_there_is_named(tmp_path: Path) -> None:
    said = refused(2, "--config", str(tmp_path / "nowhere.toml"))
    assert "nowhere.toml: can't be read" in said


def test_without_models_and_network_one_message_names_every_source(tmp_path: Path) -> None:
    dead = "http://127.0.0.1:9"
    proxies = {f"{scheme}_proxy": dead for scheme in ("http", "https", "all", "HTTP", "HTTPS", "ALL")}
    nowhere = {"PIP_INDEX_URL": f"{dead}/simple", "PIP_EXTRA_INDEX_URL": "", "PIP_CONFIG_FILE": "/dev/null"}
    said = refused(1, **proxies, **nowhere, no_proxy="", NO_PROXY="", SAMPAN_MODELS=str(tmp_path / "models"))
    message = said[said.index("sampan serve:") :]
    for source in ("huggingface.co", "hf-mirror.com", "modelscope.cn", "Python wheels"):
        assert source in message, said
