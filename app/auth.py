"""Who may do what: short JWTs (RFC 7519, HS256) with scopes, bound to a room; revocable."""

import secrets
from collections import OrderedDict
from enum import StrEnum

import jwt

from app.clock import wall_now_ms
from app.errors import ServiceError

_ALGORITHM = "HS256"
_MAX_REVOKED = 100_000
SHORTEST_SECRET = 32


def bearer(header: str | None) -> str | None:
    """The token of an Authorization header (RFC 6750), if that is what it holds."""
    scheme, _, token = (header or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


class Scope(StrEnum):
    """What a token allows. `admin` allows everything in its room."""

    PUBLISH = "publish"
    COMMENT = "comment"
    VIEW = "view"
    ADMIN = "admin"


class Tokens:
    """Issues and checks tokens with one secret. Without a secret everybody may do everything (loopback only)."""

    def __init__(self, secret: str | None) -> None:
        self._secret = secret
        self._revoked: OrderedDict[str, None] = OrderedDict()

    @property
    def required(self) -> bool:
        """Whether callers need a token at all."""
        return self._secret is not None

    def issue(self, *, room: str, scopes: frozenset[Scope], ttl_s: int) -> str:
        """A token for one room ("*": all). Raises ValueError where there is no secret."""
        if self._secret is None:
            raise ValueError("without auth.secret there is nothing to sign a token with")
        now = wall_now_ms() // 1000
        claims = {
            "room": room,
            "scope": " ".join(sorted(scopes)),
            "iat": now,
            "exp": now + ttl_s,
            "jti": secrets.token_urlsafe(9),
        }
        return jwt.encode(claims, self._secret, algorithm=_ALGORITHM)

    def revoke(self, token: str) -> None:
        """Make a token useless from now on. The oldest revocations are forgotten past 100,000.

        Raises ServiceError where the token is not one of ours.
        """
        self._revoked[str(self._claims(token)["jti"])] = None
        while len(self._revoked) > _MAX_REVOKED:
            self._revoked.popitem(last=False)

    def authorise(self, token: str | None, room: str, scope: Scope) -> None:
        """Let the call through or raise ServiceError. `room` "*" asks for a right over all rooms."""
        if self._secret is None:
            return
        if not token:
            raise ServiceError("bad_token", "no token was given", hint="send Authorization: Bearer, or ?token=")
        claims = self._claims(token)
        if str(claims["jti"]) in self._revoked:
            raise ServiceError("revoked_token", "this token was revoked", hint="ask for a new token")
        allowed = set(str(claims["scope"]).split())
        if claims["room"] not in (room, "*"):
            raise ServiceError("forbidden", "the token is for another room", hint="ask for a token of this room")
        if scope not in allowed and Scope.ADMIN not in allowed:
            raise ServiceError(
                "forbidden",
                f"the token's scopes are {' '.join(sorted(allowed))}",
                hint=f"ask for a token with the scope {scope}",
            )

    def _claims(self, token: str) -> dict[str, object]:
        try:
            claims: dict[str, object] = jwt.decode(
                token,
                self._secret or "",
                algorithms=[_ALGORITHM],
                options={"require": ["exp", "iat", "jti", "room", "scope"]},
            )
        except jwt.ExpiredSignatureError as error:
            raise ServiceError("bad_token", "the token is out of date", hint="ask for a new token") from error
        except jwt.PyJWTError as error:
            raise ServiceError("bad_token", "the token is not one of this server's", hint="ask for a token") from error
        return claims
