"""The default translation engine on CPU: a chat model on llama.cpp, one thread, rows admitted in mid-flight."""

import asyncio
import queue
from collections.abc import Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import msgspec

from engines.cores import Cores
from engines.engine import Capacity, RowFailure
from engines.errors import EngineFault, Unavailable, without_foreign_words
from engines.languages import LANGUAGES
from engines.mt.checks import LOST, UNTOUCHED, fault_of
from engines.mt.llama_model import LlamaModel
from engines.mt.llama_prompts import PromptStore
from engines.mt.llama_slots import CONTEXT_TOKENS, Job, Slots, TooLong, sequences
from engines.mt.prompts import Prompts
from engines.mt.types import Translation, TranslationRequest


class LlamaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`slots` texts at once; `shots` example lines in a prompt."""

    slots: int = 8
    shots: int = 2


class _Call(msgspec.Struct, frozen=True):
    request: TranslationRequest
    job: Job
    answer: "Future[Translation | RowFailure]"
    first: "Translation | RowFailure | None" = None  # what came of the first try, in a second


class LlamaCppEngine:
    """Engine[TranslationRequest, Translation] over one GGUF file."""

    name = "llama.cpp"

    def __init__(self, path: Path, version: str, settings: LlamaSettings, cores: Cores) -> None:
        self.version = version
        self.capacity = Capacity(max_batch=1, concurrency=settings.slots)
        self._path = path
        self._cores = cores
        self._settings = settings
        self._waiting: queue.Queue[tuple[TranslationRequest, Future[Translation | RowFailure]] | None] = queue.Queue(
            maxsize=4 * settings.slots
        )
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="llama")
        self._loaded: Future[None] = Future()
        self._work: Future[None] | None = None
        self._closed = False  # once set, the thread takes no more rows and ends those it has

    def group(self, row: TranslationRequest) -> Hashable:
        """Rows share a prompt by pair; as each call has one row, this only labels it."""
        return row.source, row.target

    async def warm(self) -> None:
        """Load the model and start its thread. Raises EngineFault."""
        if self._closed:
            raise _closed_fault()
        if self._work is None:
            self._work = self._thread.submit(self._run)
        await asyncio.shield(asyncio.wrap_future(self._loaded))

    async def run(self, rows: Sequence[TranslationRequest]) -> Sequence[Translation | RowFailure]:
        """Translate; cancelling gives the rows' slots back at the next step. Raises EngineFault."""
        await self.warm()
        answers: list[Future[Translation | RowFailure]] = []
        try:
            for row in rows:
                answer: Future[Translation | RowFailure] = Future()
                self._waiting.put_nowait((row, answer))
                answers.append(answer)
            if self._closed:  # looked at after the rows were put, as the thread sets it before it ends those it finds
                raise _closed_fault()
            return [await asyncio.wrap_future(answer) for answer in answers]
        except queue.Full:
            raise Unavailable("more rows at once than its capacity", hint="send fewer at once") from None
        finally:
            for answer in answers:
                answer.cancel()

    async def close(self) -> None:
        """Give up what is under way, free the model and end the thread."""
        self._closed = True
        if self._work is not None and not self._work.done():
            with suppress(queue.Full):
                self._waiting.put_nowait(None)  # wakes a thread that has nothing to do; where rows wait, it is awake
            await asyncio.wait([asyncio.wrap_future(self._work)])
        self._thread.shutdown(wait=False)

    def _run(self) -> None:
        """The thread's whole life: load, serve until told to stop, free."""
        settings = self._settings
        try:
            model = LlamaModel(
                self._path,
                sequences=sequences(settings.slots),
                context_tokens=CONTEXT_TOKENS,
            )
            store = PromptStore(self._path.parent / ".prompts")
            slots = Slots(model, Prompts(settings.shots), store, self._cores, settings.slots)
            slots.take_memory()
        except Exception as fault:  # noqa: BLE001 - whatever broke, those who wait for the model learn it
            self._loaded.set_exception(without_foreign_words(fault))
            return
        self._loaded.set_result(None)
        try:
            self._serve(slots)
        finally:
            model.close()

    def _serve(self, slots: Slots) -> None:
        calls: dict[Job, _Call] = {}
        held: _Call | None = None
        try:
            while not self._closed:
                held = self._admit(slots, calls, held)
                self._step(slots, calls)
        finally:
            self._closed = True
            _end([call.answer for call in [*calls.values(), held] if call is not None], _closed_fault())
            _end(self._left_waiting(), _closed_fault())

    def _step(self, slots: Slots, calls: dict[Job, _Call]) -> None:
        for call in calls.values():
            call.job.cancelled = call.answer.cancelled()
        try:
            ended = slots.step() if slots.busy else []
        except Exception as error:  # noqa: BLE001 - a thread that dies would leave everybody waiting
            slots.drop_all()
            _end([call.answer for call in calls.values()], without_foreign_words(error))
            calls.clear()
            return
        for job in ended:
            call = calls.pop(job)
            answer, fault = self._answer(slots, call)
            again = self._again(slots, call, answer, fault)
            if again is not None:
                calls[again.job] = again
                slots.admit(again.job)
                continue
            if fault is not None and isinstance(call.first, Translation):
                answer = call.first  # the second try is no better
            if call.answer.set_running_or_notify_cancel():
                call.answer.set_result(answer)

    def _admit(self, slots: Slots, calls: dict[Job, _Call], held: _Call | None) -> _Call | None:
        """Take waiting rows while they fit; the row that did not fit yet. Blocks while there is nothing to do."""
        while True:
            call = held or self._next(slots, block=not slots.busy)
            held = None
            if call is None:
                return None
            if call.answer.cancelled():
                continue
            if not slots.can_admit(call.job):
                return call
            calls[call.job] = call
            slots.admit(call.job)

    def _next(self, slots: Slots, *, block: bool) -> _Call | None:
        while True:
            try:
                waiting = self._waiting.get(block)
            except queue.Empty:
                return None
            if waiting is None:
                return None
            request, answer = waiting
            try:
                return _Call(request, slots.job(request), answer)
            except TooLong:
                if answer.set_running_or_notify_cancel():
                    answer.set_result(RowFailure("too_long"))

    def _left_waiting(self) -> "Iterator[Future[Translation | RowFailure]]":
        with suppress(queue.Empty):
            while True:
                waiting = self._waiting.get_nowait()
                if waiting is not None:
                    yield waiting[1]

    def _answer(self, slots: Slots, call: _Call) -> tuple[Translation | RowFailure, str | None]:
        """The answer and its fault; what lost a sign is a translation all the same."""
        if not call.request.text:
            return Translation(text="", engine=self.name, model_version=self.version), None
        text = slots.text(call.job)
        fault = "too_long" if call.job.cut else fault_of(text, call.request)
        if fault is not None and fault != LOST:
            return RowFailure(fault), fault
        written = len(call.job.written)
        return Translation(text=text, engine=self.name, model_version=self.version, tokens=written), fault

    def _again(self, slots: Slots, call: _Call, answer: Translation | RowFailure, fault: str | None) -> _Call | None:
        """A second try with the other prompt; where the source was left as it was, without Latin letters.

        Of a row without text: the pair's prompt for sentences is made ready too.
        """
        if call.first is not None:
            return None
        if not call.request.text:
            return _Call(call.request, slots.job(call.request, "prose"), call.answer, first=answer)
        if fault is None:
            return None
        own_letters = "Latin" not in LANGUAGES[call.request.target].scripts
        latin = not (own_letters and fault in UNTOUCHED and not call.request.keep)
        job = slots.job(call.request, "again", latin=latin)
        return _Call(call.request, job, call.answer, first=answer) if slots.can_admit(job) else None


def _closed_fault() -> Unavailable:
    return Unavailable("the engine is closed", hint="start it again")


def _end(answers: "Iterable[Future[Translation | RowFailure]]", fault: EngineFault) -> None:
    for answer in answers:
        if answer.set_running_or_notify_cancel():
            answer.set_exception(fault)
