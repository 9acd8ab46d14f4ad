"""The whole comment path: clean, set apart what stays as it is, find the language, say what a model is to read."""

from collections import Counter, OrderedDict, deque
from collections.abc import Sequence

from engines.languages import LanguageTag
from engines.lid.text_language import TextLanguages
from pipelines.comments.normalise import clean_comment, normalise
from pipelines.comments.privacy import find_personal
from pipelines.comments.repeats import Repeat, Repeats, RepeatsSettings
from pipelines.comments.shortcuts import why_as_it_is
from pipelines.comments.slang import Slang
from pipelines.comments.spans import find_spans
from pipelines.metrics import MASKED
from pipelines.spans import Span, merge, without
from pipelines.types import Comment, CueKind, Ledger, RoomSettings, SourceText

_AUTHORS = 512
_AUTHOR_LINES = 8
_ROOM_LINES = 64
_SURE = 0.8  # lines that are remembered: less sure ones would only repeat what was expected
_SETTINGS_WEIGHT = 1.0
_ROOM_WEIGHT, _ROOM_DOUBT = 1.0, 8  # a few lines say little about a room,
_AUTHOR_WEIGHT, _AUTHOR_DOUBT = 2.0, 1  # but people keep to a language
_HIDDEN = "•••"


class CommentReader:
    """Turns one room's comments into SourceText.

    Remembers languages of 64 lines and of 512 authors, and for the repeats' window what was said.
    """

    def __init__(
        self, settings: RoomSettings, languages: TextLanguages, slang: Slang, repeats: RepeatsSettings
    ) -> None:
        self._settings = settings
        self._languages = languages
        self._slang = slang
        self._repeats = Repeats(repeats)
        self._room: deque[LanguageTag] = deque(maxlen=_ROOM_LINES)
        self._authors: OrderedDict[str, deque[LanguageTag]] = OrderedDict()

    def read(self, comment: Comment, now: float) -> SourceText | Repeat:
        """The comment, clean and with its language, at loop time `now`; a Repeat where another said the same lately.

        Raises CommentRefused.
        """
        text, personal = self._personal(clean_comment(comment.text))
        author = normalise(comment.author)
        spans = merge((personal, find_spans(text, self._authors)))
        language = self._language(comment.language, author, without(text, spans))
        # Personal data is in no memory but the cue's: what holds some is not compared.
        if not comment.first and not personal:
            repeat = self._repeats.seen(comment.id, text, language, now)
            if repeat is not None:
                return repeat
        reworded = self._slang.reworded(text, language, spans)  # 666 has a meaning though it has no word
        return SourceText(
            id=comment.id,
            revision=0,
            final=True,
            kind=CueKind.COMMENT,
            text=text,
            language=language,
            author=author,
            ledger=Ledger(captured=comment.sent_at, received=comment.received_at, normalised=now),
            as_is=None if reworded else why_as_it_is(text, spans),
            spans=spans,
            reworded=reworded,
            first=comment.first,
        )

    def _personal(self, text: str) -> tuple[str, Sequence[Span]]:
        """The text and where personal data stands in it; none is left in a room that hides it."""
        spans = find_personal(text)
        for span in spans:
            MASKED.labels(span.kind).inc()
        if not self._settings.hide_personal:
            return text, spans
        for span in reversed(spans):
            text = text[: span.start] + _HIDDEN + text[span.end :]
        return text, ()

    def _language(self, stated: LanguageTag | None, author: str, words: str) -> LanguageTag:
        if stated is not None:
            self._remember(author, stated)
            return stated
        detected = self._languages.detect(words, self._prior(author))
        self._remember(author, detected.language if detected.probability >= _SURE else None)
        return detected.language

    def _prior(self, author: str) -> dict[LanguageTag, float]:
        """Weights of the languages that are expected: the room's own, and those that were written last."""
        sources = self._settings.sources
        weights = {tag: _SETTINGS_WEIGHT / len(sources) for tag in sources}
        seen = (
            (self._room, _ROOM_WEIGHT, _ROOM_DOUBT),
            (self._authors.get(author, ()), _AUTHOR_WEIGHT, _AUTHOR_DOUBT),
        )
        for lines, weight, doubt in seen:
            for tag, count in Counter(lines).items():
                weights[tag] = weights.get(tag, 0.0) + weight * count / (len(lines) + doubt)
        return weights

    def _remember(self, author: str, language: LanguageTag | None) -> None:
        """Note who wrote and, where it is sure, in what language."""
        lines = self._authors.setdefault(author, deque(maxlen=_AUTHOR_LINES))
        self._authors.move_to_end(author)
        if len(self._authors) > _AUTHORS:
            self._authors.popitem(last=False)
        if language is not None:
            self._room.append(language)
            lines.append(language)
