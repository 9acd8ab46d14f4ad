"""POST /v1/tokens/revoke: make a token useless before its time."""

import msgspec
from fastapi import APIRouter, Request, Response

from app.auth import Scope, Tokens
from app.http.requests import json_body, read_body, token_of


class RevokeBody(msgspec.Struct, frozen=True, kw_only=True):
    """The token to revoke."""

    token: str


def router(tokens: Tokens) -> APIRouter:
    """The tokens' route. Connections that were opened with a token before stay open."""
    routes = APIRouter(prefix="/v1/tokens", tags=["tokens"])

    @routes.post("/revoke", status_code=204, openapi_extra=json_body(RevokeBody))
    async def revoke(request: Request) -> Response:
        tokens.authorise(token_of(request), "*", Scope.ADMIN)
        body = await read_body(request, RevokeBody)
        tokens.revoke(body.token)
        return Response(status_code=204)

    return routes
