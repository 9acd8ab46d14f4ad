"""Demand: the languages somebody reads now in one room. The only thing that flows upstream, and it is read."""

import asyncio
from collections import Counter
from contextlib import suppress

from engines.languages import LanguageTag


class Demand:
    """Counts readers by language. A language stays in demand `linger_s` after its last reader left."""

    def __init__(self, linger_s: float = 10.0) -> None:
        self.version = 0
        self._linger_s = linger_s
        self._readers: Counter[LanguageTag] = Counter()
        self._until: dict[LanguageTag, float] = {}  # languages without readers, and when they lapse
        self._bumped = asyncio.Event()

    def add(self, language: LanguageTag) -> None:
        """One more reader."""
        self._readers[language] += 1
        lingering = self._until.pop(language, None) is not None
        if self._readers[language] == 1 and not lingering:
            self._bump()

    def remove(self, language: LanguageTag, now: float) -> None:
        """One reader less, at `now` in seconds of the loop's clock. Raises ValueError where there was none."""
        if not self._readers[language]:
            raise ValueError(f"nobody reads {language}")
        self._readers[language] -= 1
        if not self._readers[language]:
            del self._readers[language]
            self._until[language] = now + self._linger_s
            self._bump()  # whoever waits has to learn when the language lapses

    def readers(self, language: LanguageTag) -> int:
        """How many read a language now."""
        return self._readers[language]

    def languages(self, now: float) -> frozenset[LanguageTag]:
        """What is in demand at `now`, lingering languages included."""
        self._lapse(now)
        return frozenset(self._readers) | frozenset(self._until)

    async def changed(self, since: int) -> int:
        """Wait until `version` is another than `since`; returns it. A language that lapses is a change too."""
        loop = asyncio.get_running_loop()
        while self.version == since:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(min(self._until.values(), default=None)):
                    await self._bumped.wait()
            self._lapse(loop.time())
        return self.version

    def _lapse(self, now: float) -> None:
        lapsed = [language for language, until in self._until.items() if until <= now]
        for language in lapsed:
            del self._until[language]
        if lapsed:
            self._bump()

    def _bump(self) -> None:
        self.version += 1
        self._bumped.set()
        self._bumped = asyncio.Event()
