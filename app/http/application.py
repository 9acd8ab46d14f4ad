"""The HTTP side as one ASGI application: routers, errors as problem+json, allowed origins."""

from collections.abc import Callable

import msgspec
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from app.admission import Admission
from app.auth import Tokens
from app.callers import Callers
from app.clock import Clock
from app.delivery.hub import Hub
from app.errors import ServiceError, problem, problem_headers
from app.http import comments, glossary, health, node, pages, rooms, subtitles, tokens
from app.http.front import Front
from app.rooms import Rooms
from pipelines.translate.glossary import Shelf


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """What the routes work on. `ready` answers what is still missing, or None."""

    rooms: Rooms
    admission: Admission
    glossary: Shelf
    hub: Hub
    tokens: Tokens
    clock: Clock
    ready: Callable[[], str | None]
    origins: tuple[str, ...]
    callers: Callers


def build(resources: Resources) -> FastAPI:
    """The application."""
    application = FastAPI(
        title="Sampan",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,
    )
    application.add_exception_handler(ServiceError, _service_error)
    application.add_exception_handler(HTTPException, _http_error)
    if resources.origins:
        application.add_middleware(
            CORSMiddleware,
            allow_origins=list(resources.origins),
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["authorization", "content-type", "last-event-id"],
        )
    application.add_middleware(Front, callers=resources.callers)  # outermost, as it is added last
    application.include_router(health.router(resources.ready, resources.tokens))
    application.include_router(node.router(resources.rooms, resources.admission, resources.hub, resources.tokens))
    application.include_router(rooms.router(resources.rooms, resources.tokens))
    application.include_router(comments.router(resources.rooms, resources.tokens, resources.clock))
    application.include_router(glossary.router(resources.rooms, resources.glossary, resources.tokens))
    application.include_router(subtitles.router(resources.rooms, resources.tokens, resources.hub, resources.clock))
    application.include_router(tokens.router(resources.tokens))
    application.include_router(pages.router())
    application.mount("/static", pages.static_files())
    return application


async def _service_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    return Response(problem(error), error.status, problem_headers(error))


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "bad_method"}.get(error.status_code, "bad_request")
    plain = ServiceError(code, str(error.detail), hint="see /v1/openapi.json for what there is")
    return Response(problem(plain), plain.status, {**(error.headers or {}), **problem_headers(plain)})
