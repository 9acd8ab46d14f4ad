"""What every HTTP call passes first: the check of its caller; and what a fault of ours comes back as."""

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.callers import Callers
from app.errors import ServiceError, problem, problem_headers
from app.supervise import supervise

_HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})


class Front:
    """ASGI middleware: refuses callers, and answers 500 for a fault, of which only the kind is logged."""

    def __init__(self, application: ASGIApp, callers: Callers) -> None:
        self._application = application
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one call."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        try:
            self._check(scope)
        except ServiceError as error:
            await _answer(error)(scope, receive, send)
            return
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        async def serve() -> None:
            await self._application(scope, receive, noted)

        sound = await supervise("request", serve, restarts=0, fields={"method": scope["method"]})
        if not sound and not started:
            fault = ServiceError("internal", "the server failed at this", hint="try again; its log has the place")
            await _answer(fault)(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self._callers.check_host(headers.get("host"))
        if scope["method"] not in _HARMLESS:
            self._callers.check_origin(headers.get("origin"), headers.get("host"))


def _answer(error: ServiceError) -> Response:
    return Response(problem(error), error.status, problem_headers(error))
