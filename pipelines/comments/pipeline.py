"""The whole comment path: clean, find the language, say whether there is anything to translate."""

from collections import Counter, OrderedDict, deque

from engines.languages import LanguageTag
from engines.lid.text_language import TextLanguages
from pipelines.comments.normalise import clean_comment, normalise
from pipelines.comments.shortcuts import needs_no_translation
from pipelines.types import Comment, CueKind, Ledger, RoomSettings, SourceText

_AUTHORS = 512
_AUTHOR_LINES = 8
_ROOM_LINES = 64
_SURE = 0.8  # lines that are remembered: less sure ones would only repeat what was expected
_SETTINGS_WEIGHT = 1.0
_ROOM_WEIGHT, _ROOM_DOUBT = 1.0, 8  # a few lines say little about a room,
_AUTHOR_WEIGHT, _AUTHOR_DOUBT = 2.0, 1  # but people keep to a language


class CommentReader:
    """Turns one room's comments into SourceText. Remembers languages, never texts: of 64 lines and of 512 authors."""

    def __init__(self, settings: RoomSettings, languages: TextLanguages) -> None:
        self._sources = settings.sources
        self._languages = languages
        self._room: deque[LanguageTag] = deque(maxlen=_ROOM_LINES)
        self._authors: OrderedDict[str, deque[LanguageTag]] = OrderedDict()

    def read(self, comment: Comment, now: float) -> SourceText:
        """The comment, clean and with its language, at loop time `now`. Raises CommentRefused."""
        text = clean_comment(comment.text)
        return SourceText(
            id=comment.id,
            revision=0,
            final=True,
            kind=CueKind.COMMENT,
            text=text,
            language=self._language(comment, text),
            author=normalise(comment.author),
            ledger=Ledger(captured=comment.sent_at, received=comment.received_at, normalised=now),
            translatable=not needs_no_translation(text),
        )

    def _language(self, comment: Comment, text: str) -> LanguageTag:
        if comment.language is not None:
            self._remember(comment.author, comment.language)
            return comment.language
        detected = self._languages.detect(text, self._prior(comment.author))
        if detected.probability >= _SURE:
            self._remember(comment.author, detected.language)
        return detected.language

    def _prior(self, author: str) -> dict[LanguageTag, float]:
        """Weights of the languages that are expected: the room's own, and those that were written last."""
        weights = {tag: _SETTINGS_WEIGHT / len(self._sources) for tag in self._sources}
        seen = (
            (self._room, _ROOM_WEIGHT, _ROOM_DOUBT),
            (self._authors.get(author, ()), _AUTHOR_WEIGHT, _AUTHOR_DOUBT),
        )
        for lines, weight, doubt in seen:
            for tag, count in Counter(lines).items():
                weights[tag] = weights.get(tag, 0.0) + weight * count / (len(lines) + doubt)
        return weights

    def _remember(self, author: str, language: LanguageTag) -> None:
        self._room.append(language)
        lines = self._authors.setdefault(author, deque(maxlen=_AUTHOR_LINES))
        lines.append(language)
        self._authors.move_to_end(author)
        if len(self._authors) > _AUTHORS:
            self._authors.popitem(last=False)
