"""/v1/rooms/{room}/glossary and /v1/glossary: words that are to be translated a room's or the node's own way."""

import msgspec
from fastapi import APIRouter, Request, Response

from app.auth import Scope, Tokens
from app.errors import ServiceError
from app.http.requests import read_bytes, token_of
from app.rooms import Rooms
from app.wire import GlossaryState
from pipelines.translate.glossary import Glossary, GlossaryError, Shelf, read_glossary, write_glossary

_LIMIT = 2 * 1024 * 1024
_TSV = "text/tab-separated-values; charset=utf-8"
_ANY_ROOM = "*"
_BODY = {"requestBody": {"required": True, "content": {"text/tab-separated-values": {"schema": {"type": "string"}}}}}


def router(rooms: Rooms, node: Shelf, tokens: Tokens) -> APIRouter:
    """The glossaries' routes. `node` holds the one of all rooms."""
    routes = APIRouter(prefix="/v1", tags=["glossary"])

    @routes.put("/rooms/{room}/glossary", openapi_extra=_BODY)
    async def put_room(request: Request, room: str) -> Response:
        tokens.authorise(token_of(request), room, Scope.ADMIN)
        target = rooms.get(room)
        target.glossary = await _read(request)
        return _state(target.glossary)

    @routes.get("/rooms/{room}/glossary")
    async def get_room(request: Request, room: str) -> Response:
        tokens.authorise(token_of(request), room, Scope.ADMIN)
        return Response(write_glossary(rooms.get(room).glossary), media_type=_TSV)

    @routes.delete("/rooms/{room}/glossary", status_code=204)
    async def delete_room(request: Request, room: str) -> Response:
        tokens.authorise(token_of(request), room, Scope.ADMIN)
        rooms.get(room).glossary = Glossary()
        return Response(status_code=204)

    @routes.put("/glossary", openapi_extra=_BODY)
    async def put_node(request: Request) -> Response:
        tokens.authorise(token_of(request), _ANY_ROOM, Scope.ADMIN)
        node.glossary = await _read(request)
        return _state(node.glossary)

    @routes.get("/glossary")
    async def get_node(request: Request) -> Response:
        tokens.authorise(token_of(request), _ANY_ROOM, Scope.ADMIN)
        return Response(write_glossary(node.glossary), media_type=_TSV)

    @routes.delete("/glossary", status_code=204)
    async def delete_node(request: Request) -> Response:
        tokens.authorise(token_of(request), _ANY_ROOM, Scope.ADMIN)
        node.glossary = Glossary()
        return Response(status_code=204)

    return routes


async def _read(request: Request) -> Glossary:
    body = await read_bytes(request, _LIMIT)
    try:
        return read_glossary(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ServiceError("bad_request", "the glossary is not UTF-8", hint="save it as UTF-8 text") from error
    except GlossaryError as error:
        raise ServiceError("bad_request", error.detail, hint=error.hint) from error


def _state(glossary: Glossary) -> Response:
    return Response(msgspec.json.encode(GlossaryState(rows=len(glossary))), media_type="application/json")
