"""CueBook: which version of a cue each language's readers have, so that revisions only ever grow. Sync."""

from collections import OrderedDict
from collections.abc import Iterable

import msgspec

from engines.languages import LANGUAGES, LanguageTag
from pipelines.types import Cue, CueFlag, CueKind, Ledger, SourceText

_REMEMBERED = 512 * len(LANGUAGES)  # as many cues as a channel replays, in every language


class _Shown(msgspec.Struct):
    """The state of one cue in one language."""

    source: SourceText  # the newest seen
    revision: int = -1
    rendered: int = -1  # the source revision that `text` translates
    text: str = ""
    final: bool = False
    cue: Cue | None = None  # a comment's last version, which may still be counted up


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    """A source text in a reader's language, or why it is not."""

    text: str
    ledger: Ledger
    flags: tuple[CueFlag, ...] = ()
    reason: str | None = None


class CueBook:
    """Makes the cues of one room. Forgets the oldest beyond 512 cues in every language."""

    def __init__(self, room: str) -> None:
        self._room = room
        self._shown: OrderedDict[tuple[str, LanguageTag], _Shown] = OrderedDict()
        self._counts: OrderedDict[str, int] = OrderedDict()

    def is_final(self, source: SourceText, language: LanguageTag) -> bool:
        """Whether readers of the language have the cue's last version."""
        shown = self._shown.get((source.id, language))
        return shown is not None and shown.final

    def pending(self, source: SourceText, language: LanguageTag) -> Cue | None:
        """The source's newest text, with the translation shown before it; None once the cue is final or has it."""
        known = self._shown.get((source.id, language))
        has_it = known is not None and known.revision >= 0 and known.source.text == source.text
        shown = self._state(source, language)
        if has_it or shown.final or source.revision <= shown.rendered:
            return None
        shown.revision += 1
        rendering = Rendering(text=shown.text, ledger=source.ledger, flags=(CueFlag.PENDING,))
        return self._cue(language, rendering, shown, final=False)

    def rendered(self, source: SourceText, language: LanguageTag, rendering: Rendering) -> Cue | None:
        """The source's text in the reader's language; None where a newer revision was rendered already.

        Where the source has gone on meanwhile its newest text is shown beside it, and the cue stays pending.
        """
        shown = self._state(source, language)
        if shown.final or source.revision < shown.rendered:
            return None
        shown.revision += 1
        shown.rendered, shown.final = source.revision, source.final
        shown.text = "" if source.final else rendering.text
        if shown.source.text != source.text:
            rendering = msgspec.structs.replace(rendering, flags=(CueFlag.PENDING,))
        return self._cue(language, rendering, shown, final=source.final)

    def counted(self, comment: str, count: int, languages: Iterable[LanguageTag]) -> list[Cue]:
        """A comment was written `count` times by now: its last version again in those languages that have it."""
        self._counts[comment] = count
        self._counts.move_to_end(comment)
        while len(self._counts) > _REMEMBERED:
            self._counts.popitem(last=False)
        cues: list[Cue] = []
        for language in languages:
            shown = self._shown.get((comment, language))
            if shown is not None and shown.cue is not None:
                shown.revision += 1
                shown.cue = msgspec.structs.replace(shown.cue, revision=shown.revision, count=count)
                cues.append(shown.cue)
        return cues

    def _state(self, source: SourceText, language: LanguageTag) -> _Shown:
        key = (source.id, language)
        shown = self._shown.setdefault(key, _Shown(source))
        if source.revision > shown.source.revision:
            shown.source = source
        self._shown.move_to_end(key)
        while len(self._shown) > _REMEMBERED:
            self._shown.popitem(last=False)
        return shown

    def _cue(self, language: LanguageTag, rendering: Rendering, shown: _Shown, *, final: bool) -> Cue:
        source = shown.source
        cue = Cue(
            id=source.id,
            revision=shown.revision,
            final=final,
            room=self._room,
            kind=source.kind,
            language=language,
            source_language=source.language,
            text=rendering.text,
            source_text=source.text,
            author=source.author,
            stream_start=source.stream_start,
            stream_end=source.stream_end,
            ledger=rendering.ledger,
            flags=rendering.flags,
            reason=rendering.reason,
            count=self._counts.get(source.id, 1),
        )
        if final and source.kind is CueKind.COMMENT:
            shown.cue = cue
        return cue
