"""Structured logs on standard error, without anybody's words."""

import logging
import sys

import structlog
from structlog.typing import EventDict, WrappedLogger

# Keys under which a person's words could slip into a log line.
_TEXT_KEYS = frozenset({"text", "source_text", "comment", "author", "token", "secret", "body", "message", "exception"})


def refuse_text(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace what may hold somebody's words by its length."""
    return {
        key: f"<{len(str(value))} characters withheld>" if key in _TEXT_KEYS else value for key, value in event.items()
    }


def configure(*, json_lines: bool) -> None:
    """Set structlog up for this process: lines for people on a terminal, JSON elsewhere."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if json_lines else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            refuse_text,
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
