"""What travels between ingest and delivery."""

from enum import StrEnum

import msgspec

from engines.batching.ticket import Tier
from engines.languages import LanguageTag
from pipelines.spans import Reworded, Span


class CueKind(StrEnum):
    """Where a cue comes from."""

    SPEECH = "speech"
    COMMENT = "comment"


class CueFlag(StrEnum):
    """What a reader or the streamer should know about a cue's text."""

    PENDING = "pending"  # the translation is being made: text is empty or that of an earlier revision
    ORIGINAL = "original"  # needs no translation, `reason` says why
    UNTRANSLATED = "untranslated"  # could not be translated in time: the source is shown, `reason` says why


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """When a cue passed each stage, in seconds of the loop's clock; None where it passed none.

    captured: the last of its sound or the comment was made · received: it reached the server · endpointed: the
    utterance was found to have ended · recognised: ASR answered · normalised: a comment was cleaned ·
    queued: it was handed to the batcher · inferred: MT answered · published: it was handed to delivery. `route`: by
    which models it was translated.
    """

    captured: float | None = None
    received: float | None = None
    endpointed: float | None = None
    recognised: float | None = None
    normalised: float | None = None
    queued: float | None = None
    inferred: float | None = None
    published: float | None = None
    route: str | None = None


class Comment(msgspec.Struct, frozen=True, kw_only=True):
    """A chat line as it was received. `sent_at` and `received_at` are in seconds of the loop's clock.

    `first`: paid or from a moderator, so it goes before the room's other comments and is merged with none.
    """

    id: str
    author: str
    text: str
    received_at: float
    sent_at: float | None = None
    language: LanguageTag | None = None
    first: bool = False


class Hypothesis(msgspec.Struct, frozen=True, kw_only=True):
    """ASR's current text of an utterance.

    Its first `stable_length` characters will not change any more; the hypothesis before agrees on `agreed_length`.
    """

    utterance: int
    revision: int
    text: str
    agreed_length: int
    stable_length: int
    language: LanguageTag
    stream_start: float
    stream_end: float
    final: bool


class SourceText(msgspec.Struct, frozen=True, kw_only=True):
    """A comment or a piece of speech, ready to be translated: from here on both are alike.

    `revision` grows with every version of the same `id`; `final` is the last. `stream_start`/`stream_end` are in
    seconds of the broadcaster's clock and 0 for a comment in a room without sound. Of unfinished speech the first
    `steady` characters won't change any more, or are all of it where it may have ended. `as_is`: why every reader
    gets it as it is, None where it is to be translated; `spans` stay as they are in the translation, `reworded` is
    what a model reads instead of the text's own words.
    """

    id: str
    revision: int
    final: bool
    kind: CueKind
    text: str
    language: LanguageTag
    ledger: Ledger
    author: str | None = None
    stream_start: float = 0.0
    stream_end: float = 0.0
    steady: int = 0
    as_is: str | None = None
    spans: tuple[Span, ...] = ()
    reworded: tuple[Reworded, ...] = ()
    first: bool = False


class Cue(msgspec.Struct, frozen=True, kw_only=True):
    """One version of what a viewer of one language sees; a higher `revision` of the same `id` replaces it.

    `count`: how many viewers have written the same.
    """

    id: str
    revision: int
    final: bool
    room: str
    kind: CueKind
    language: LanguageTag
    source_language: LanguageTag
    text: str
    source_text: str
    author: str | None
    stream_start: float
    stream_end: float
    ledger: Ledger
    flags: tuple[CueFlag, ...] = ()
    reason: str | None = None
    count: int = 1


class RoomSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a room was asked to be.

    `sources`: the languages spoken and written; empty means any, found for each utterance and comment.
    `targets`: the languages that may be read; empty means any of the service's. `hide_personal`: phone numbers and the
    like are shown to nobody; otherwise no model, cache or log has them, but the room's cues do.
    """

    room: str
    sources: tuple[LanguageTag, ...] = ()
    targets: tuple[LanguageTag, ...] = ()
    tier: Tier = Tier.STANDARD
    hide_personal: bool = False
