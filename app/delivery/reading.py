"""What a viewer asks to read, checked; and the hello it is greeted with. Shared by WebSocket and SSE."""

import re
from collections.abc import Callable, Sequence

import msgspec

from app.clock import Clock
from app.delivery.frames import Position
from app.delivery.hub import Joined
from app.errors import ServiceError
from app.wire import PROTOCOL_VERSION, ErrorFrame, Hello, LanguageName
from engines.languages import LANGUAGES, LanguageTag, UnknownLanguage, parse_language

Languages = Callable[[str], Sequence[LanguageTag]]

_POSITION = re.compile(r"([0-9a-f]{1,32}):([0-9]{1,15})")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A room, a language that can be read in it, and where to go on from."""

    room: str
    language: LanguageTag
    languages: tuple[LanguageTag, ...]
    resume: Position | None

    @classmethod
    def parse(cls, room: str, language: str | None, resume: str | None, languages: Languages) -> "Reading":
        """Check what was asked for. `languages(room)` raises ServiceError for an unknown room; so does this."""
        readable = tuple(languages(room))
        return cls(room=room, language=_language(language, readable), languages=readable, resume=_position(resume))


def hello(joined: Joined, reading: Reading, clock: Clock) -> Hello:
    """The first frame of a connection."""
    return Hello(
        protocol=PROTOCOL_VERSION,
        room=reading.room,
        lang=reading.language,
        epoch=joined.epoch,
        seq=joined.seq,
        server_time_ms=round(clock.now_ms()),
        languages=tuple(LanguageName(lang=tag, name=LANGUAGES[tag].own) for tag in reading.languages),
        reading=joined.reading,
    )


def error_frame(error: ServiceError) -> ErrorFrame:
    """The frame that says why a connection ends."""
    return ErrorFrame(code=error.code, detail=error.detail, hint=error.hint, reconnect=error.reconnect)


def _language(asked: str | None, readable: tuple[LanguageTag, ...]) -> LanguageTag:
    hint = f"ask for one of: {', '.join(readable)}"
    if not asked:
        raise ServiceError("unknown_language", "no language was asked for: ?lang=", hint=hint)
    try:
        language = parse_language(asked)
    except UnknownLanguage as error:
        raise ServiceError("unknown_language", str(error), hint=hint) from error
    if language not in readable:
        raise ServiceError("unknown_language", f"{language} is not read in this room", hint=hint)
    return language


def _position(text: str | None) -> Position | None:
    if not text:
        return None
    found = _POSITION.fullmatch(text)
    if found is None:
        raise ServiceError("bad_request", "resume_from is not epoch:seq", hint="send the last epoch and seq you saw")
    return Position(found[1], int(found[2]))
