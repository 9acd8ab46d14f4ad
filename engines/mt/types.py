"""What goes into a translation engine and what comes out."""

import msgspec

from engines.languages import LanguageTag


class TranslationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One text to translate. Frozen and hashable: with the engine's version it is its own cache key.

    A request without text asks for nothing but lets an engine get ready for the pair. `keep`: signs in the text that
    the answer has to hold too.
    """

    text: str
    source: LanguageTag
    target: LanguageTag
    keep: tuple[str, ...] = ()

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
