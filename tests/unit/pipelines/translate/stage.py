"""A translator at work in virtual time, with a scripted batcher."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from engines.batching.ticket import Done, Outcome, Ticket
from engines.languages import LanguageTag
from engines.mt.types import Translation, TranslationRequest
from pipelines.demand import Demand
from pipelines.translate.glossary import Shelf
from pipelines.translate.translator import Translator, TranslatorSettings
from pipelines.types import Cue, RoomSettings
from tests.support.virtual_time import run_virtual

EN, VI, HANS, HANT = (LanguageTag(tag) for tag in ("en", "vi", "zh-Hans", "zh-Hant"))


class Batcher:
    """Answers after a second of virtual time, with what a test says; remembers what it was asked."""

    def __init__(self, outcome: Outcome[Translation] | None = None, takes_s: float = 1.0) -> None:
        self.asked: list[tuple[TranslationRequest, Ticket]] = []
        self.outcome = outcome
        self.takes_s = takes_s
        self.answered = 0

    @property
    def texts(self) -> list[tuple[str, str]]:
        """(text, target) asked for, getting ready left out."""
        return [(row.text, row.target) for row, _ in self.asked if row.text]

    async def submit(self, row: TranslationRequest, ticket: Ticket) -> Outcome[Translation]:
        self.asked.append((row, ticket))
        await asyncio.sleep(self.takes_s)
        self.answered += bool(row.text)
        if self.outcome is not None:
            return self.outcome
        text = f"{row.text}>{row.target}" if row.target != HANS else "信息"
        result = Translation(text=text, engine="scripted", model_version="1")
        return Done(result=result, queued_s=0.0, infer_s=self.takes_s, batch_rows=1)


class Stage:
    """A translator at work, and what it published."""

    def __init__(self, batcher: Batcher, **settings: Any) -> None:
        self.demand = Demand(linger_s=1.0)
        self.cues: list[Cue] = []
        self.batcher = batcher
        room = RoomSettings(room="r", sources=(HANS,))
        self.glossary = Shelf("room")
        self.translator = Translator(
            room,
            batcher,
            self.demand,
            self.cues.append,
            TranslatorSettings(**settings),
            glossaries=(self.glossary,),
        )

    @property
    def finals(self) -> list[tuple[str, str, str]]:
        """(language, text, flag or reason) of finished cues."""
        return [(cue.language, cue.text, cue.reason or "".join(cue.flags)) for cue in self.cues if cue.final]


def play(stage: Stage, scene: Callable[[], Awaitable[None]]) -> Stage:
    """Run a scene while the translator works."""

    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(stage.translator.run())
            await asyncio.sleep(0.01)
            await scene()
            running.cancel()

    run_virtual(main())
    return stage
