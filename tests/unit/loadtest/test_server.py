"""Server addresses and refusals."""

import httpx
import pytest

from loadtest.server import Server, refusal_code, refusal_text

pytestmark = pytest.mark.unit


def test_addresses_are_made_from_the_base_and_carry_no_token_but_in_the_fragment() -> None:
    server = Server(url="https://a.example/base/", token="t.o.k")
    assert server.socket_url("my room", "subtitles", lang="zh-Hans") == (
        "wss://a.example/base/v1/rooms/my%20room/subtitles?lang=zh-Hans"
    )
    assert server.page_url("demo", "th") == "https://a.example/base/r/demo?lang=th#token=t.o.k"
    assert server.headers == {"authorization": "Bearer t.o.k"}


def test_a_refusal_is_told_in_the_servers_words() -> None:
    body = b'{"code":"busy","detail":"the node is full","hint":"try later"}'
    assert refusal_text(503, body) == "the node is full (try later)"
    assert refusal_text(502, b"<html>") == "HTTP 502"
    assert refusal_code(httpx.Response(503, content=body)) == "busy"
    assert refusal_code(httpx.Response(502)) == "http_502"
