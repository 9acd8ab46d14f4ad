"""/v1/node: how many rooms and viewers there are, and how many live rooms this node keeps up with."""

import msgspec
from fastapi import APIRouter, Request, Response

from app.admission import Admission
from app.auth import Scope, Tokens
from app.delivery.hub import Hub
from app.http.requests import token_of
from app.rooms import Rooms
from app.wire import NodeShown


def router(rooms: Rooms, admission: Admission, hub: Hub, tokens: Tokens) -> APIRouter:
    """The node's route."""
    routes = APIRouter(prefix="/v1/node", tags=["node"])

    @routes.get("")
    async def show(request: Request) -> Response:
        tokens.authorise(token_of(request), "*", Scope.ADMIN)
        shown = NodeShown(
            rooms=len(rooms.all()), live_rooms=admission.live, live_rooms_held=admission.held, viewers=hub.viewers
        )
        return Response(msgspec.json.encode(shown), media_type="application/json")

    return routes
