"""/healthz, /readyz and /metrics."""

from collections.abc import Callable

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.auth import Scope, Tokens
from app.errors import ServiceError
from app.http.requests import token_of


def router(ready: Callable[[], str | None], tokens: Tokens) -> APIRouter:
    """`ready` answers what is still missing, or None once models are warm."""
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz")
    async def healthz() -> Response:
        return Response('{"status":"alive"}', media_type="application/json")

    @routes.get("/readyz")
    async def readyz() -> Response:
        missing = ready()
        if missing is not None:
            raise ServiceError("busy", missing, hint="try again in a few seconds", retry_after=2)
        return Response('{"status":"ready"}', media_type="application/json")

    @routes.get("/metrics")
    async def metrics(request: Request) -> Response:
        tokens.authorise(token_of(request), "*", Scope.ADMIN)
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return routes
