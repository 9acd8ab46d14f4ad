"""What goes into a translation engine and what comes out."""

import msgspec

from engines.languages import LanguageTag


class TranslationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One text to translate. Frozen and hashable: with the engine's version its `question` is its cache key.

    A request without text asks for nothing but lets an engine get ready for the pair. `keep`: signs in the text that
    the answer has to hold too. `draft`: how the answer may begin, as that to the beginning of the text did; it makes an
    engine quicker that can look at it, and changes no answer.
    """

    text: str
    source: LanguageTag
    target: LanguageTag
    keep: tuple[str, ...] = ()
    draft: str = ""

    @property
    def question(self) -> "TranslationRequest":
        """All that the answer depends on."""
        return msgspec.structs.replace(self, draft="") if self.draft else self

    @property
    def pair(self) -> str:
        """The pair as metrics label it."""
        return f"{self.source}>{self.target}"


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """One translated text. `tokens` is what was generated, `route` by which models it came."""

    text: str
    engine: str
    model_version: str
    tokens: int = 0
    route: str | None = None
