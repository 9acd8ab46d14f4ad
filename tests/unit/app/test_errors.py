"""app/errors.py"""

import json
import re

import pytest

from app.errors import ERRORS, ServiceError, problem, problem_headers
from tests.support.trees import ROOT

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("code", ERRORS)
def test_every_code_has_an_http_status_a_close_code_of_its_range_and_a_place_in_the_docs(code: str) -> None:
    error = ServiceError(code, "what happened", hint="what to do")
    assert 400 <= error.status < 600
    assert error.close_code == 1001 or 4000 <= error.close_code < 5000
    assert error.reconnect is (error.close_code < 4500)
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    assert f"| {code} | {error.status} | {error.close_code} |" in page


def test_every_code_that_the_service_raises_is_one_of_the_table() -> None:
    files = (ROOT / "app").rglob("*.py")
    raised = {code for file in files for code in re.findall(r'ServiceError\(\s*"(\w+)"', file.read_text())}
    assert raised
    assert raised <= set(ERRORS)


def test_the_body_is_a_problem_with_the_code_the_detail_and_the_hint() -> None:
    assert json.loads(problem(ServiceError("unknown_room", "no room 'x'", hint="create it"))) == {
        "type": "urn:sampan:error:unknown_room",
        "title": ERRORS["unknown_room"].title,
        "status": 404,
        "detail": "no room 'x'",
        "code": "unknown_room",
        "hint": "create it",
    }


def test_headers_say_when_to_try_again_and_that_a_token_is_asked_for() -> None:
    assert problem_headers(ServiceError("forbidden", "d", hint="h")) == {"content-type": "application/problem+json"}
    assert problem_headers(ServiceError("busy", "d", hint="h", retry_after=3))["retry-after"] == "3"
    assert problem_headers(ServiceError("bad_token", "d", hint="h"))["www-authenticate"] == "Bearer"


def test_a_code_of_no_table_is_a_mistake_that_is_seen_at_once() -> None:
    with pytest.raises(KeyError):
        _ = ServiceError("nonsense", "d", hint="h").status
