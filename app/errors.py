"""The caller's faults: each has a code, an HTTP status, a WebSocket close code and says what to do.

Bodies follow RFC 9457 (problem+json). Close codes 4000-4499 mean "connecting again may help", 4500-4999 "it won't".
"""

from typing import NamedTuple

import msgspec


class _Row(NamedTuple):
    status: int
    close_code: int
    title: str


ERRORS: dict[str, _Row] = {
    "going_away": _Row(503, 1001, "The server is going away"),
    "slow_reader": _Row(408, 4408, "The connection did not take what was sent"),
    "room_closed": _Row(410, 4410, "The room was closed"),
    "internal": _Row(500, 4400, "The server failed"),
    "busy": _Row(503, 4429, "The server has no room for this now"),
    "too_many_requests": _Row(429, 4429, "Too many requests"),
    "bad_frame": _Row(400, 4500, "The frame is not one of the protocol's"),
    "bad_token": _Row(401, 4501, "The token is missing, wrong or out of date"),
    "forbidden": _Row(403, 4503, "The token does not allow this"),
    "unknown_room": _Row(404, 4504, "There is no such room"),
    "unknown_language": _Row(400, 4505, "The language is not one of the room's"),
    "revoked_token": _Row(401, 4507, "The token was revoked"),
    "bad_request": _Row(400, 4510, "The request is not valid"),
    "room_exists": _Row(409, 4511, "The room exists already"),
    "publisher_exists": _Row(409, 4512, "Somebody else is sending to this room"),
    "bad_audio": _Row(400, 4513, "The audio can't be read"),
    "comment_too_long": _Row(413, 4514, "The comment is too long"),
    "comment_empty": _Row(422, 4515, "The comment has no text"),
    "body_too_large": _Row(413, 4516, "The body is too large"),
    "bad_origin": _Row(403, 4517, "The page's origin is not allowed"),
    "not_found": _Row(404, 4518, "There is nothing here"),
    "bad_host": _Row(421, 4519, "The server does not answer to this name"),
    "bad_method": _Row(405, 4520, "The method is not one of this resource's"),
}


class ServiceError(Exception):
    """A refusal with its reason. `hint` tells the caller what to change; `retry_after` is in seconds."""

    def __init__(self, code: str, detail: str, *, hint: str, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.hint = hint
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        """HTTP status."""
        return ERRORS[self.code].status

    @property
    def close_code(self) -> int:
        """WebSocket close code."""
        return ERRORS[self.code].close_code

    @property
    def reconnect(self) -> bool:
        """Whether the same call may succeed later."""
        return self.close_code < 4500


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RFC 9457 body, with the code and the hint as extensions."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str


def problem(error: ServiceError) -> bytes:
    """The error as a problem+json body."""
    row = ERRORS[error.code]
    body = Problem(
        type=f"urn:sampan:error:{error.code}",
        title=row.title,
        status=row.status,
        detail=error.detail,
        code=error.code,
        hint=error.hint,
    )
    return msgspec.json.encode(body)


def problem_headers(error: ServiceError) -> dict[str, str]:
    """Headers that go with `problem`."""
    headers = {"content-type": "application/problem+json"}
    if error.retry_after is not None:
        headers["retry-after"] = str(error.retry_after)
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    return headers
