"""POST /v1/rooms/{room}/comments."""

import asyncio

import msgspec
from fastapi import APIRouter, Request, Response

from app.auth import Scope, Tokens
from app.clock import Clock
from app.errors import ServiceError
from app.http.requests import json_body, read_body, token_of
from app.names import COMMENT_ID
from app.rooms import Rooms, new_comment_id
from app.wire import CommentAccepted, CommentBody
from engines.languages import LanguageTag, UnknownLanguage, parse_language
from pipelines.types import Comment

_LONGEST_NAME = 128
_LATEST_MS = 253_402_300_800_000  # the end of the year 9999


def router(rooms: Rooms, tokens: Tokens, clock: Clock) -> APIRouter:
    """The comments' route."""
    routes = APIRouter(prefix="/v1/rooms", tags=["comments"])

    @routes.post("/{room}/comments", status_code=202, openapi_extra=json_body(CommentBody))
    async def comment(request: Request, room: str) -> Response:
        received_at = asyncio.get_running_loop().time()
        tokens.authorise(token_of(request), room, Scope.COMMENT)
        target = rooms.get(room)
        body = await read_body(request, CommentBody)
        accepted = Comment(
            id=_identifier(body),
            author=body.author[:_LONGEST_NAME],
            text=body.text,
            language=_language(body.lang),
            received_at=received_at,
            sent_at=_sent_at(body, clock),
            first=body.first,
        )
        target.push_comment(accepted)
        answer = msgspec.json.encode(CommentAccepted(id=accepted.id))
        return Response(answer, 202, media_type="application/json")

    return routes


def _identifier(body: CommentBody) -> str:
    if body.id is None:
        return new_comment_id()
    if not COMMENT_ID.fullmatch(body.id):
        raise ServiceError(
            "bad_request", "the comment's id", hint="1 to 128 letters, digits, '-', '_', '=' and '%'; or leave it out"
        )
    return body.id


def _sent_at(body: CommentBody, clock: Clock) -> float | None:
    if body.sent_at_ms is None:
        return None
    if not 0 <= body.sent_at_ms < _LATEST_MS:
        raise ServiceError("bad_request", "sent_at_ms is not a time", hint="send epoch milliseconds, or leave it out")
    return clock.loop_time(body.sent_at_ms)


def _language(tag: str | None) -> LanguageTag | None:
    if tag is None:
        return None
    try:
        return parse_language(tag)
    except UnknownLanguage as error:
        raise ServiceError("unknown_language", str(error), hint="leave lang out to have it found") from error
