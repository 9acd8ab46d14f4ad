"""Which names this server answers to, and which web pages may call it: what a browser can be tricked into."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from app.errors import ServiceError
from app.settings import is_loopback


class Callers:
    """Checks the headers that say where a call goes and which page makes it.

    With `loopback_only` (a server without a secret) only loopback names are answered, so that no foreign name that
    is made to point here (DNS rebinding) lets a page in. `origins` may call besides our own pages; "*": any.
    """

    def __init__(self, origins: Sequence[str], *, loopback_only: bool) -> None:
        self._origins = frozenset(origins)
        self._loopback_only = loopback_only

    def check_host(self, host: str | None) -> None:
        """`host` is the header's value. Raises ServiceError where the server does not go by that name."""
        if self._loopback_only and not is_loopback(_split(f"//{host}", "hostname")):
            raise ServiceError(
                "bad_host",
                "without auth.secret this server answers to localhost and loopback addresses only",
                hint="call it as http://127.0.0.1, or set auth.secret",
            )

    def check_origin(self, origin: str | None, host: str | None) -> None:
        """Browsers say which page calls: it has to be ours or one of the settings'. Raises ServiceError."""
        if origin is None or "*" in self._origins or origin in self._origins:
            return
        if _split(origin, "netloc") != host:
            raise ServiceError("bad_origin", "pages of this origin may not call", hint="add it to server.origins")


def _split(url: str, part: str) -> str:
    """A part of a URL; none where the text is no URL."""
    try:
        return getattr(urlsplit(url), part) or ""
    except ValueError:
        return ""
