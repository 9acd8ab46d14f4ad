"""Every setting in one frozen tree: TOML file < environment (SAMPAN_SECTION_KEY) < flags, checked at once."""

import ipaddress
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec

from app.auth import SHORTEST_SECRET
from app.delivery.speeds import ReadingSettings
from app.names import ROOM_NAME
from engines.batching.policy import BatchingSettings
from engines.languages import UnknownLanguage, parse_language
from pipelines.comments.repeats import RepeatsSettings
from pipelines.speech.settings import SpeechSettings
from pipelines.translate.translator import TranslatorSettings

PREFIX = "SAMPAN_"


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the server listens and how much it takes."""

    host: str = "127.0.0.1"
    """Address to listen on. Beyond loopback only with auth.secret set."""
    port: int = 8470
    """TCP port of HTTP and WebSocket."""
    origins: tuple[str, ...] = ()
    """Web origins besides the server's own that may open sockets and call the API, or "*" for any."""
    max_rooms: int = 64
    """Rooms at once, live or not; a new one beyond is answered 503."""
    max_live_rooms: int = 0
    """Rooms with a broadcaster at once; one beyond is answered 503. 0: as many as recognition keeps up with."""
    glossary: str | None = None
    """A file of words that all rooms want translated their own way; docs/protocol.md shows its form."""
    max_viewers: int = 10_000
    """Viewers at once over all rooms; a new one beyond is answered 503."""


class AuthSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tokens."""

    secret: str | None = None
    """Signs tokens; at least 32 characters. Without it nobody needs a token and only loopback is served."""


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which models run, and on how much of the machine."""

    folder: str | None = None
    """Where model files lie; by default $XDG_CACHE_HOME/sampan/models."""
    mt: str = "qwen2.5-coder-1.5b-instruct-q4_k_m"
    """Translation model, a name of `sampan models list`."""
    mt_pairs: bool = True
    """Models of single pairs that are installed translate these pairs where they score better."""
    asr: str = "whisper-base-ct2-fp16"
    """Recognition model, a name of `sampan models list`."""
    mt_slots: int = 8
    """Texts translated at once."""
    cores: int = 0
    """CPU cores that the models share; 0: all that this process may use."""
    asr_threads: int = 1
    """Of these, how many one recognition takes; translation takes what is left."""


class RoomSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A room that exists from the start."""

    room: str
    """Name: letters, digits, '-' and '_', at most 64."""
    sources: tuple[str, ...] = ()
    """Languages spoken and written; empty: any, found for each utterance and comment."""
    targets: tuple[str, ...] = ()
    """Languages that may be read; empty: any."""
    tier: str = "standard"
    """premium, standard or background."""
    hide_personal: bool = False
    """Phone numbers and the like in comments are shown to nobody."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole tree."""

    server: ServerSettings = ServerSettings()
    auth: AuthSettings = AuthSettings()
    models: ModelSettings = ModelSettings()
    mt_batching: BatchingSettings = BatchingSettings()
    asr_batching: BatchingSettings = BatchingSettings()
    speech: SpeechSettings = SpeechSettings()
    repeats: RepeatsSettings = RepeatsSettings()
    translator: TranslatorSettings = TranslatorSettings()
    reading: ReadingSettings = ReadingSettings()
    rooms: tuple[RoomSection, ...] = ()


class SettingsError(ValueError):
    """One or more settings can't be used; the message names each key, its value and what is allowed."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def load(file: Path | None, environment: Mapping[str, str], flags: Mapping[str, object]) -> Settings:
    """The settings of this process. `flags` has dotted keys ("server.port"). Raises SettingsError."""
    tree: dict[str, Any] = {}
    if file is not None:
        tree = _read(file)
    problems: list[str] = []
    for key, value in _from_environment(environment, problems).items():
        _put(tree, key, value)
    for key, flag in flags.items():
        if flag is not None:
            _put(tree, key, flag)
    settings = _convert(tree, problems)
    problems += _rules(settings)
    if problems:
        raise SettingsError(problems)
    return settings


def is_loopback(host: str) -> bool:
    """Whether an address reaches this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError([f"{file}: can't be read: {error.strerror}"]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError([f"{file}: is not TOML: {error}"]) from error


def _from_environment(environment: Mapping[str, str], problems: list[str]) -> dict[str, object]:
    known = {f"{PREFIX}{key.replace('.', '_').upper()}": (key, kind) for key, kind in _keys(Settings)}
    sections = [f"{PREFIX}{field.name.upper()}_" for field in msgspec.structs.fields(Settings)]
    ours = {"SAMPAN_MODELS": ("models.folder", str), **known}
    found: dict[str, object] = {}
    for name, text in environment.items():
        if name in ours:
            key, kind = ours[name]
            parts = tuple(part.strip() for part in text.split(",") if part.strip())
            found[key] = parts if get_origin(kind) is tuple else text
            continue
        section = next((section for section in sections if name.startswith(section)), None)
        if section is not None:
            there = [key for key in known if key.startswith(section)]
            problems.append(f"{name}: no such setting; known: {', '.join(there) or 'none'}")
    return found


def _keys(kind: type[msgspec.Struct], prefix: str = "") -> list[tuple[str, Any]]:
    keys: list[tuple[str, Any]] = []
    for field in msgspec.structs.fields(kind):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            keys += _keys(field.type, f"{prefix}{field.name}.")
        elif not any(isinstance(part, type) and issubclass(part, msgspec.Struct) for part in get_args(field.type)):
            keys.append((f"{prefix}{field.name}", field.type))
    return keys


def _put(tree: dict[str, Any], key: str, value: object) -> None:
    *sections, name = key.split(".")
    place: Any = tree
    for section in sections:
        place = place.setdefault(section, {})
        if not isinstance(place, dict):  # the file has a value where a section belongs; the conversion names it
            return
    place[name] = value


def _convert(tree: dict[str, Any], problems: list[str]) -> Settings:
    """Convert section by section so that every wrong key is named at once; a wrong section has its defaults."""
    fields = {field.name: field for field in msgspec.structs.fields(Settings)}
    converted: dict[str, Any] = {}
    for name, section in tree.items():
        if name not in fields:
            problems.append(f"{name}: no such section; known: {', '.join(fields)}")
            continue
        try:
            converted[name] = msgspec.convert(section, fields[name].type, strict=False)
        except msgspec.ValidationError as error:
            problems += _explain(name, section, fields[name].type, error)
    return Settings(**converted)


def _explain(name: str, value: object, kind: Any, error: msgspec.ValidationError) -> list[str]:
    """What is wrong with a value: each wrong key below it, or the value itself."""
    if not (isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        shown = "(hidden)" if name.split(".", maxsplit=1)[0] == "auth" else repr(value)
        return [f"{name} = {shown}: {error}"]
    known = {field.name: field.type for field in msgspec.structs.fields(kind)}
    problems = []
    for key, part in value.items():
        if key not in known:
            problems.append(f"{name}.{key}: no such setting; known: {', '.join(known)}")
            continue
        try:
            msgspec.convert(part, known[key], strict=False)
        except msgspec.ValidationError as wrong:
            problems += _explain(f"{name}.{key}", part, known[key], wrong)
    return problems or [f"{name}: {error}"]


def _rules(settings: Settings) -> list[str]:
    server, problems = settings.server, []
    if not 0 <= server.port <= 65_535:
        problems.append(f"server.port = {server.port}: allowed are 0 to 65535 (0: any free port)")
    for key, least in (("max_rooms", 1), ("max_live_rooms", 0), ("max_viewers", 1)):
        if getattr(server, key) < least:
            problems.append(f"server.{key} = {getattr(server, key)}: allowed is {least} and more")
    for key, least in (("mt_slots", 1), ("cores", 0), ("asr_threads", 1)):
        if not least <= getattr(settings.models, key) <= 256:
            problems.append(f"models.{key} = {getattr(settings.models, key)}: allowed are {least} to 256")
    secret = settings.auth.secret
    if secret is not None and len(secret) < SHORTEST_SECRET:
        problems.append(f"auth.secret: has {len(secret)} characters; allowed are {SHORTEST_SECRET} and more")
    if secret is None and not is_loopback(server.host):
        problems.append(
            f"server.host = {server.host!r}: without auth.secret only loopback is served (127.0.0.1, ::1, localhost); "
            "set SAMPAN_AUTH_SECRET to 32 random characters or more"
        )
    return problems + [problem for room in settings.rooms for problem in _room_rules(room)]


def _room_rules(room: RoomSection) -> list[str]:
    problems = []
    if not ROOM_NAME.fullmatch(room.room):
        problems.append(f"rooms.room = {room.room!r}: allowed are 1 to 64 letters, digits, '-' and '_'")
    if room.tier not in ("premium", "standard", "background"):
        problems.append(f"rooms.tier = {room.tier!r}: allowed are premium, standard, background")
    for key, tags in (("sources", room.sources), ("targets", room.targets)):
        for tag in tags:
            try:
                parse_language(tag)
            except UnknownLanguage as error:
                problems.append(f"rooms.{key}: {error}")
    return problems
