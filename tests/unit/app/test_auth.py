"""app/auth.py"""

import jwt
import pytest

from app.auth import Scope, Tokens
from app.clock import wall_now_ms
from app.errors import ServiceError

pytestmark = pytest.mark.unit

SECRET = "0123456789abcdef0123456789abcdef"


def token(room: str = "r", *scopes: Scope, ttl_s: int = 60) -> str:
    return Tokens(SECRET).issue(room=room, scopes=frozenset(scopes or {Scope.VIEW}), ttl_s=ttl_s)


def refusal(tokens: Tokens, given: str | None, room: str = "r", scope: Scope = Scope.VIEW) -> str:
    with pytest.raises(ServiceError) as refused:
        tokens.authorise(given, room, scope)
    return refused.value.code


def forged(**changes: object) -> str:
    now = wall_now_ms() // 1000
    claims = {"room": "r", "scope": "admin", "iat": now, "exp": now + 60, "jti": "x", **changes}
    return jwt.encode({name: value for name, value in claims.items() if value is not None}, SECRET, algorithm="HS256")


def test_a_token_opens_its_room_for_its_scope_and_nothing_else() -> None:
    tokens = Tokens(SECRET)
    given = token("r", Scope.VIEW)
    tokens.authorise(given, "r", Scope.VIEW)
    assert refusal(tokens, given, room="other") == "forbidden"
    assert refusal(tokens, given, scope=Scope.COMMENT) == "forbidden"
    assert refusal(tokens, given, room="*") == "forbidden"


def test_admin_may_do_everything_in_its_room_and_a_star_stands_for_every_room() -> None:
    tokens = Tokens(SECRET)
    for scope in Scope:
        tokens.authorise(token("r", Scope.ADMIN), "r", scope)
        tokens.authorise(token("*", Scope.ADMIN), "any", scope)
    assert refusal(tokens, token("r", Scope.ADMIN), room="*", scope=Scope.ADMIN) == "forbidden"


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "garbage",
        "a.b.c",
        forged(exp=1),
        forged(exp=None),
        forged(room=None),
        forged(scope=None),
        forged(jti=None),
        jwt.encode({"room": "r", "scope": "admin"}, "", algorithm="none"),
        Tokens("another secret of 32 characters!").issue(room="r", scopes=frozenset({Scope.ADMIN}), ttl_s=60),
    ],
)
def test_what_is_not_a_good_token_of_ours_is_refused(given: str | None) -> None:
    assert refusal(Tokens(SECRET), given) == "bad_token"


def test_a_revoked_token_is_useless_and_its_sister_is_not() -> None:
    tokens, first, second = Tokens(SECRET), token(), token()
    tokens.revoke(first)
    assert refusal(tokens, first) == "revoked_token"
    tokens.authorise(second, "r", Scope.VIEW)


def test_a_foreign_token_cannot_be_revoked() -> None:
    with pytest.raises(ServiceError):
        Tokens(SECRET).revoke("garbage")


def test_without_a_secret_nobody_needs_a_token_and_none_can_be_issued() -> None:
    tokens = Tokens(None)
    assert not tokens.required
    tokens.authorise(None, "r", Scope.ADMIN)
    with pytest.raises(ValueError, match=r"auth\.secret"):
        tokens.issue(room="r", scopes=frozenset({Scope.VIEW}), ttl_s=60)


def test_a_refusal_says_what_is_missing_but_not_the_token() -> None:
    with pytest.raises(ServiceError) as refused:
        Tokens(SECRET).authorise("secret-looking.token.here", "r", Scope.VIEW)
    assert "secret-looking" not in refused.value.detail + refused.value.hint


def test_past_the_bound_the_oldest_revocation_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.auth._MAX_REVOKED", 2)
    tokens, given = Tokens(SECRET), [token() for _ in range(3)]
    for one in given:
        tokens.revoke(one)
    tokens.authorise(given[0], "r", Scope.VIEW)
    assert [refusal(tokens, one) for one in given[1:]] == ["revoked_token"] * 2


@pytest.mark.parametrize("given", ["garbage", jwt.encode({"jti": "x"}, SECRET, algorithm="HS256")])
def test_without_a_secret_there_is_no_token_to_revoke(given: str) -> None:
    with pytest.raises(ServiceError):
        Tokens(None).revoke(given)
