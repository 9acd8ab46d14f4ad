"""What every resource needs of a request: its token and its body."""

from typing import TypeVar

import msgspec
from fastapi import Request

from app.auth import bearer
from app.errors import ServiceError

T = TypeVar("T")
BODY_LIMIT = 64 * 1024


def token_of(request: Request) -> str | None:
    """The bearer token (RFC 6750): the Authorization header, or the query for players that can't set headers."""
    return bearer(request.headers.get("authorization")) or request.query_params.get("token")


async def read_body(request: Request, kind: type[T]) -> T:
    """The JSON body as `kind`. Raises ServiceError where it is over 64 KiB or not of that form."""
    try:
        return msgspec.json.decode(await read_bytes(request, BODY_LIMIT), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ServiceError("bad_request", f"the body is not valid: {error}", hint="see docs/protocol.md") from error


async def read_bytes(request: Request, limit: int) -> bytes:
    """The whole body. Raises ServiceError where it is over `limit` bytes."""
    received = bytearray()
    async for part in request.stream():
        received += part
        if len(received) > limit:
            raise ServiceError("body_too_large", f"over {limit} bytes", hint="send less in one request")
    return bytes(received)


def json_body(kind: type[msgspec.Struct]) -> dict[str, object]:
    """OpenAPI's description of a route's body."""
    schema = msgspec.json.schema(kind)
    definition = schema["$defs"][kind.__name__]
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": definition}}}}
