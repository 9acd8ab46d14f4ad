"""Source texts for tests."""

from typing import Any

from engines.languages import LanguageTag
from pipelines.types import CueKind, Ledger, SourceText


def source(identifier: str = "s1.0", **changes: Any) -> SourceText:
    """A finished piece of Chinese speech, unless told otherwise."""
    fields: dict[str, Any] = {
        "id": identifier,
        "revision": 0,
        "final": True,
        "kind": CueKind.SPEECH,
        "text": "大家好",
        "language": LanguageTag("zh-Hans"),
        "ledger": Ledger(received=0.0),
    }
    return SourceText(**{**fields, **changes})


def comment(identifier: str = "c1", **changes: Any) -> SourceText:
    """A comment in Chinese."""
    return source(identifier, **{"kind": CueKind.COMMENT, "author": "a", **changes})
