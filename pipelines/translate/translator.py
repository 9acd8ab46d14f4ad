"""SourceText × the languages that are read → cues. The only caller of the MT batcher."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from engines.batching.ticket import Done, Outcome, Shed, ShedCause, Ticket, Tier
from engines.engine import RowFailure
from engines.languages import LanguageTag, is_chinese
from engines.mt.types import Translation, TranslationRequest
from pipelines.comments.repeats import Repeat
from pipelines.cues import CueBook, Rendering
from pipelines.demand import Demand
from pipelines.ledger import stamp
from pipelines.metrics import REPEATS, SHED, observe
from pipelines.translate.chinese import to_script
from pipelines.translate.glossary import Shelf
from pipelines.translate.partials import Partials
from pipelines.translate.template import Template, restore
from pipelines.translate.wording import Wording, in_script
from pipelines.types import Cue, CueFlag, CueKind, RoomSettings, SourceText

_SIMPLIFIED = LanguageTag("zh-Hans")
# Comments come in these, whatever the broadcaster speaks; other languages are made ready when they come up.
_LIKELY_SOURCES = tuple(LanguageTag(tag) for tag in ("zh-Hans", "en", "vi", "th", "id", "ms"))
_LEAST_S = 1.0  # however late a text comes, it is tried for so long


class TranslatorSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long translations may take and how many a room may have under way."""

    comment_deadline_s: Annotated[float, Meta(gt=0, le=60)] = 5.0
    """A comment not translated this long after it was received is shown as it is, marked."""
    final_deadline_s: Annotated[float, Meta(gt=0, le=60)] = 5.0
    """The same for a finished piece of speech, from the moment it was recognised."""
    partial_deadline_s: Annotated[float, Meta(gt=0, le=60)] = 3.0
    """A translation of unfinished speech that takes longer is dropped."""
    partial_interval_s: Annotated[float, Meta(ge=0, le=60)] = 1.0
    """What is certain of unfinished speech is translated again after so long, sooner after a clause, but not before the
    last translation has come; 0: never."""
    in_flight: Annotated[int, Meta(ge=1, le=65_536)] = 256
    """Translations of one room under way at once; beyond it texts are shown as they are, marked."""
    prepare_deadline_s: Annotated[float, Meta(gt=0, le=600)] = 30.0
    """Getting a model ready for a pair of a language just opened is given up after so long."""
    backfill: Annotated[int, Meta(ge=0, le=100)] = 4
    """Cues translated first for a language that somebody opens."""
    count_interval_s: Annotated[float, Meta(ge=0, le=60)] = 0.3
    """How often a comment that many write is shown with its new count."""


class _Asked(msgspec.Struct, frozen=True):
    """A translation of unfinished speech that is under way."""

    cue: str
    text: str
    task: asyncio.Task[None]


class Translate(Protocol):
    """The MT batcher, as the translator sees it."""

    async def submit(self, row: TranslationRequest, ticket: Ticket) -> Outcome[Translation]:
        """Translate one text."""


class Translator:
    """Translates one room's texts into the languages in demand and hands every version on as a cue."""

    def __init__(
        self,
        room: RoomSettings,
        batcher: Translate,
        demand: Demand,
        publish: Callable[[Cue], None],
        settings: TranslatorSettings,
        *,
        glossaries: Sequence[Shelf] = (),
    ) -> None:
        """`glossaries`: where two have a word, the first one's counts."""
        self._room = room
        self._batcher = batcher
        self._demand = demand
        self._publish = publish
        self._settings = settings
        self._wording = Wording(glossaries)
        self._book = CueBook(room.room)
        self._recent: deque[SourceText] = deque(maxlen=settings.backfill)
        self._partials = Partials(settings.partial_interval_s)
        self._asked: dict[LanguageTag, _Asked] = {}  # of unfinished speech, last; bounded by the languages
        self._served: frozenset[LanguageTag] = frozenset()
        self._counts: dict[str, int] = {}  # comments written again since they were shown last
        self._counted = asyncio.Event()
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._tasks: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Translate until cancelled; the tasks of all translations belong to this call."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            tasks.create_task(self._show_counts())
            version = -1
            try:
                while True:
                    self._languages()
                    version = await self._demand.changed(version)
            finally:
                self._tasks = None

    def take(self, source: SourceText) -> None:
        """Render a text for every language in demand. Never waits; what can't be taken is shown as it is."""
        languages = self._languages()
        if source.final and source.text:
            self._recent.append(source)
        for language in languages:
            self._render(source, language)

    def count(self, repeat: Repeat) -> None:
        """A comment that was taken was written again. Its readers see the new count within `count_interval_s`."""
        REPEATS.inc()
        self._counts[repeat.id] = repeat.count
        self._counted.set()

    async def idle(self) -> None:
        """Wait until no translation is under way."""
        await self._idle.wait()

    def _languages(self) -> frozenset[LanguageTag]:
        """What is in demand; a language that somebody has just opened gets the last few texts first."""
        languages = self._demand.languages(asyncio.get_running_loop().time())
        for language in sorted(languages - self._served):
            for source in self._recent:
                if not self._book.is_final(source, language):  # a language that was closed for a while has some
                    self._render(source, language)
            if self._tasks is not None:
                self._tasks.create_task(self._prepare(language))
        self._served = languages
        return languages

    async def _show_counts(self) -> None:
        while True:
            await self._counted.wait()
            self._counted.clear()
            counts, self._counts = self._counts, {}
            for comment, count in counts.items():
                for cue in self._book.counted(comment, count, self._served):
                    self._publish(cue)
            await asyncio.sleep(self._settings.count_interval_s)

    def _render(self, source: SourceText, language: LanguageTag) -> None:
        original = self._without_model(source, language)
        if original is not None:
            self._show(self._book.rendered(source, language, original))
            return
        if source.kind is CueKind.SPEECH:
            self._show(self._book.pending(source, language))
        now = asyncio.get_running_loop().time()
        text = source.text if source.final else self._partials.due(source, language, now)
        if not text:
            return
        template = self._wording.template(msgspec.structs.replace(source, text=text), language)
        if not template.has_words:
            said = Rendering(text=restore(template, template.text), ledger=source.ledger)
            self._show(self._book.rendered(source, language, said))
            return
        if self._tasks is None or self._in_flight >= self._settings.in_flight:
            cause = ShedCause.CLOSED if self._tasks is None else ShedCause.QUEUE_FULL
            SHED.labels("translator", cause, self._room.tier).inc()
            self._give_up(source, language, cause)
            return
        self._cancel_partial(source, language, template)
        self._in_flight += 1
        self._idle.clear()
        task = self._tasks.create_task(self._translate(source, language, template))
        if not source.final:
            self._partials.began(source, language, text, now)
            self._asked[language] = _Asked(source.id, template.text, task)

    def _without_model(self, source: SourceText, language: LanguageTag) -> Rendering | None:
        """What needs no model: nothing to say, the reader's own language, another script of Chinese."""
        ledger = source.ledger
        if not source.text:
            return Rendering(text="", ledger=ledger)
        if source.as_is is not None or source.language == language:
            reason = source.as_is or "own_language"
            return Rendering(text=source.text, ledger=ledger, flags=(CueFlag.ORIGINAL,), reason=reason)
        if is_chinese(source.language) and is_chinese(language):
            text = in_script(source, language)
            return Rendering(text=text, ledger=ledger, flags=(CueFlag.ORIGINAL,), reason="own_language")
        return None

    def _cancel_partial(self, source: SourceText, language: LanguageTag, template: Template) -> None:
        """Give up what is asked of a piece's beginning, unless the whole of it asks for the same."""
        asked = self._asked.get(language)
        if asked is not None and asked.cue == source.id and asked.text != template.text:
            asked.task.cancel()

    async def _translate(self, source: SourceText, language: LanguageTag, template: Template) -> None:
        loop = asyncio.get_running_loop()
        queued = loop.time()
        said: str | None = None
        request = TranslationRequest(
            text=template.text,
            source=source.language,
            target=_through(language),
            keep=template.signs,
            draft=self._partials.draft(source, language) if source.kind is CueKind.SPEECH else "",
        )
        try:
            outcome = await self._batcher.submit(request, self._ticket(source, language, queued))
            said = outcome.result.text if isinstance(outcome, Done) else None
        except asyncio.CancelledError:
            self._give_up(source, language, ShedCause.CLOSED)
            raise
        finally:
            if not source.final:
                self._partials.ended(source, language, said)
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()
        if isinstance(outcome, Done):
            ledger = stamp(source.ledger, queued=queued, inferred=loop.time())
            ledger = msgspec.structs.replace(ledger, route=outcome.result.route)
            text = restore(template, to_script(outcome.result.text, language))
            self._show(self._book.rendered(source, language, Rendering(text=text, ledger=ledger)))
        elif source.final:
            self._give_up(source, language, _reason(outcome))

    def _ticket(self, source: SourceText, language: LanguageTag, now: float) -> Ticket:
        settings = self._settings
        if source.kind is CueKind.COMMENT:
            # The earlier deadline puts a paid comment before the others.
            share = 0.5 if source.first else 1.0
            deadline = (source.ledger.received or now) + share * settings.comment_deadline_s
        else:
            deadline = now + (settings.final_deadline_s if source.final else settings.partial_deadline_s)
        flow = "first" if source.first else source.kind  # a busy chat takes no place from these or from speech
        return Ticket(
            flow=f"{self._room.room}/{flow}",
            tier=self._room.tier,
            deadline=max(deadline, now + _LEAST_S),
            supersedes=None if source.kind is CueKind.COMMENT else (self._room.room, source.id, language),
        )

    async def _prepare(self, language: LanguageTag) -> None:
        """Let the model get ready for the pairs of a language just opened, before the first text needs it."""
        target = _through(language)
        for source in dict.fromkeys((*self._room.sources, *_LIKELY_SOURCES)):
            if source == target or (is_chinese(source) and is_chinese(target)):
                continue
            deadline = asyncio.get_running_loop().time() + self._settings.prepare_deadline_s
            ticket = Ticket(flow=f"{self._room.room}/prepare", tier=Tier.BACKGROUND, deadline=deadline)
            await self._batcher.submit(TranslationRequest(text="", source=source, target=target), ticket)

    def _give_up(self, source: SourceText, language: LanguageTag, reason: str) -> None:
        if source.final:
            marked = Rendering(text=source.text, ledger=source.ledger, flags=(CueFlag.UNTRANSLATED,), reason=reason)
            self._show(self._book.rendered(source, language, marked))

    def _show(self, cue: Cue | None) -> None:
        if cue is None:
            return
        now = asyncio.get_running_loop().time()
        cue = msgspec.structs.replace(cue, ledger=stamp(cue.ledger, published=now))
        if cue.final:
            observe(cue, self._room.tier)
        self._publish(cue)


def _through(language: LanguageTag) -> LanguageTag:
    """All written Chinese goes through the models as Simplified, so that readers of both share one answer."""
    return _SIMPLIFIED if is_chinese(language) else language


def _reason(outcome: Outcome[Translation]) -> str:
    if isinstance(outcome, Shed):
        return outcome.cause
    if isinstance(outcome, Done):
        return ""
    return outcome.fault.reason if isinstance(outcome.fault, RowFailure) else "engine_fault"
