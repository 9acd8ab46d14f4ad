"""The viewer's page and the files it needs."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles

_BUILT = Path(__file__).parents[1] / "static"  # inside an installed package
_CHECKOUT = Path(__file__).parents[2] / "web" / "static"  # in a checkout
_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; object-src 'none'"
    ),
    "referrer-policy": "no-referrer",  # the URL may carry a token
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}


def static_folder() -> Path:
    """Where the web files lie."""
    return _BUILT if _BUILT.is_dir() else _CHECKOUT


def router() -> APIRouter:
    """The pages' routes."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/r/{room}")
    async def room_page(room: str) -> FileResponse:  # the socket says whether there is such a room, to who may know
        return FileResponse(static_folder() / "room.html", headers=_HEADERS)

    return routes


def static_files() -> StaticFiles:
    """The files under /static."""
    return StaticFiles(directory=static_folder())
