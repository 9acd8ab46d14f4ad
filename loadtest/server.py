"""Where a server is and how its public API is called."""

from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import httpx
import msgspec

DEFAULT_SERVER = "http://127.0.0.1:8470"


class ServerRefused(Exception):
    """The server answered a call with an error; the message is the server's own."""


class _Problem(msgspec.Struct):
    code: str = ""
    detail: str = ""
    hint: str = ""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A server's base address and the token to show it, if any."""

    url: str = DEFAULT_SERVER
    token: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that carry the token."""
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    def socket_url(self, room: str, path: str, **query: str) -> str:
        """The WebSocket address of `path` in a room. The token travels in a header, not here."""
        scheme, host, base, _, _ = urlsplit(self.url)
        full = f"{base.rstrip('/')}/v1/rooms/{quote(room, safe='')}/{path}"
        return urlunsplit(("wss" if scheme == "https" else "ws", host, full, urlencode(query), ""))

    def page_url(self, room: str, lang: str) -> str:
        """The viewer page, with the token in the fragment, which browsers don't send or log."""
        fragment = f"#token={self.token}" if self.token else ""
        return f"{self.url.rstrip('/')}/r/{quote(room, safe='')}?{urlencode({'lang': lang})}{fragment}"

    def client(self) -> httpx.AsyncClient:
        """A pooled HTTP client that shows the token. The caller closes it."""
        return httpx.AsyncClient(
            base_url=self.url,
            headers=self.headers,
            timeout=httpx.Timeout(10.0),
            limits=httpx.Limits(max_connections=16, max_keepalive_connections=16),
            trust_env=False,
        )


def refusal_text(status: int, body: bytes) -> str:
    """What the server says is wrong, in one line."""
    problem = _problem(body)
    text = problem.detail or problem.code or f"HTTP {status}"
    return f"{text} ({problem.hint})" if problem.hint else text


def refusal_code(response: httpx.Response) -> str:
    """The protocol's code of a refusal, or its HTTP status where it has none."""
    return _problem(response.content).code or f"http_{response.status_code}"


def _problem(body: bytes) -> _Problem:
    try:
        return msgspec.json.decode(body, type=_Problem)
    except msgspec.DecodeError:
        return _Problem()


async def create_room(client: httpx.AsyncClient, room: str, sources: tuple[str, ...]) -> None:
    """Open a room whose readers may pick any language. Raises ServerRefused."""
    body = {"room": room, "sources": list(sources), "targets": [], "tier": "standard"}
    response = await client.post("/v1/rooms", json=body)
    if response.status_code != 201:
        raise ServerRefused(
            f"the room {room!r} was not created: {refusal_text(response.status_code, response.content)}"
        )


async def is_ready(client: httpx.AsyncClient) -> bool:
    """Whether the server is up and its models are warm."""
    try:
        return (await client.get("/readyz")).status_code == 200
    except httpx.TransportError:
        return False
