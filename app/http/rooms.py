"""/v1/rooms: create, list, show and close."""

import msgspec
from fastapi import APIRouter, Request, Response

from app.auth import Scope, Tokens
from app.errors import ServiceError
from app.http.requests import json_body, read_body, token_of
from app.names import ROOM_NAME
from app.rooms import Room, Rooms
from app.wire import RoomBody, RoomShown
from engines.batching.ticket import Tier
from engines.languages import LanguageTag, UnknownLanguage, parse_language
from pipelines.types import RoomSettings


def room_settings(body: RoomBody) -> RoomSettings:
    """The room a body asks for. Raises ServiceError."""
    if not ROOM_NAME.fullmatch(body.room):
        raise ServiceError(
            "bad_request", f"room {body.room[:64]!r}", hint="1 to 64 letters, digits, '-' and '_' make a room's name"
        )
    return RoomSettings(
        room=body.room,
        sources=_tags(body.sources),
        targets=_tags(body.targets),
        tier=Tier(body.tier),
        hide_personal=body.hide_personal,
    )


def router(rooms: Rooms, tokens: Tokens) -> APIRouter:
    """The rooms' routes."""
    routes = APIRouter(prefix="/v1/rooms", tags=["rooms"])

    @routes.post("", status_code=201, openapi_extra=json_body(RoomBody))
    async def create(request: Request) -> Response:
        body = await read_body(request, RoomBody)
        tokens.authorise(token_of(request), body.room, Scope.ADMIN)
        room = rooms.create(room_settings(body))
        return _json(_shown(room), 201, {"location": f"/v1/rooms/{room.name}"})

    @routes.get("")
    async def every(request: Request) -> Response:
        tokens.authorise(token_of(request), "*", Scope.ADMIN)
        return _json([_shown(room) for room in rooms.all()])

    @routes.get("/{room}")
    async def show(request: Request, room: str) -> Response:
        tokens.authorise(token_of(request), room, Scope.VIEW)
        return _json(_shown(rooms.get(room)))

    @routes.delete("/{room}", status_code=204)
    async def close(request: Request, room: str) -> Response:
        tokens.authorise(token_of(request), room, Scope.ADMIN)
        await rooms.close(room)
        return Response(status_code=204)

    return routes


def _tags(tags: tuple[str, ...]) -> tuple[LanguageTag, ...]:
    try:
        return tuple(dict.fromkeys(parse_language(tag) for tag in tags))
    except UnknownLanguage as error:
        raise ServiceError("unknown_language", str(error), hint="use one of the languages named") from error


def _shown(room: Room) -> RoomShown:
    settings = room.settings
    return RoomShown(
        room=room.name,
        sources=settings.sources,
        targets=settings.targets,
        tier=settings.tier.value,
        hide_personal=settings.hide_personal,
        ingest=room.state.ingest,
        load=room.state.load,
    )


def _json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")
