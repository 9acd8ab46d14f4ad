"""Which names and pages are let in."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.callers import Callers
from app.errors import ServiceError

pytestmark = pytest.mark.unit

OPEN = Callers(["https://allowed.example"], loopback_only=False)
LOOPBACK = Callers([], loopback_only=True)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:8470", "127.8.9.10", "[::1]", "[::1]:1"])
def test_loopback_names_are_let_in(host: str) -> None:
    LOOPBACK.check_host(host)


@pytest.mark.parametrize("host", [None, "", "[", "example.com", "localhost.example.com", "10.0.0.1", "0.0.0.0"])
def test_other_names_are_let_in_only_where_a_token_is_asked_for(host: str | None) -> None:
    OPEN.check_host(host)
    with pytest.raises(ServiceError, match=r"auth\.secret") as refused:
        LOOPBACK.check_host(host)
    assert refused.value.code == "bad_host"


def test_programs_our_own_pages_and_those_of_the_settings_may_call() -> None:
    OPEN.check_origin(None, "sampan.example")
    OPEN.check_origin("https://sampan.example", "sampan.example")
    OPEN.check_origin("https://allowed.example", "sampan.example")
    Callers("*", loopback_only=False).check_origin("https://any.example", "sampan.example")


@pytest.mark.parametrize("origin", ["null", "", "https://evil.example", "http://[", "https://sampan.example:444"])
def test_pages_of_other_origins_may_not_call(origin: str) -> None:
    with pytest.raises(ServiceError) as refused:
        OPEN.check_origin(origin, "sampan.example")
    assert refused.value.code == "bad_origin"


@given(text=st.text())
def test_no_text_is_taken_for_ours_unless_it_is(text: str) -> None:
    with suppress(ServiceError):
        OPEN.check_origin(text, "sampan.example")
        assert "://sampan.example" in text or "//sampan.example" in text
    with suppress(ServiceError):
        LOOPBACK.check_host(text)
        assert "127." in text or "::1" in text or "localhost" in text.lower()
