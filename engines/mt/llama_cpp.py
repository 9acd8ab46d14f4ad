"""The default translation engine on CPU: a chat model on llama.cpp, one thread, rows admitted in mid-flight."""

import asyncio
import queue
from collections.abc import Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec

from engines.cores import Cores
from engines.engine import Capacity, RowFailure
from engines.errors import EngineFault, Unavailable
from engines.mt.checks import fault_of
from engines.mt.llama_model import LlamaModel
from engines.mt.llama_slots import CONTEXT_TOKENS, PREFIXES, Job, Slots, TooLong
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

    def group(self, row: TranslationRequest) -> Hashable:
        """Rows share a prompt by pair; as each call has one row, this only labels it."""
        return row.source, row.target

    async def warm(self) -> None:
        """Load the model and start its thread. Raises EngineFault."""
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
            return [await asyncio.wrap_future(answer) for answer in answers]
        except queue.Full:
            raise Unavailable("more rows at once than its capacity", hint="send fewer at once") from None
        finally:
            for answer in answers:
                answer.cancel()

    async def close(self) -> None:
        """Give up what is under way, free the model and end the thread."""
        if self._work is not None and not self._work.done():
            while not self._work.done():
                try:
                    self._waiting.put_nowait(None)
                    break
                except queue.Full:
                    await asyncio.sleep(0.05)
            await asyncio.wait([asyncio.wrap_future(self._work)])
        self._thread.shutdown(wait=False)

    def _run(self) -> None:
        """The thread's whole life: load, serve until told to stop, free."""
        settings = self._settings
        try:
            model = LlamaModel(
                self._path,
                sequences=settings.slots + PREFIXES,
                context_tokens=CONTEXT_TOKENS,
            )
            slots = Slots(model, Prompts(settings.shots), self._cores, settings.slots)
        except EngineFault as fault:
            self._loaded.set_exception(fault)
            return
        self._loaded.set_result(None)
        try:
            self._serve(slots)
        finally:
            model.close()

    def _serve(self, slots: Slots) -> None:
        calls: dict[Job, _Call] = {}
        held: _Call | None = None
        while True:
            try:
                held = self._admit(slots, calls, held)
                for call in calls.values():
                    call.job.cancelled = call.answer.cancelled()
                ended = slots.step() if slots.busy else []
            except _Stop:
                _end([*calls.values()], Unavailable("the engine was closed", hint="start it again"))
                return
            except EngineFault as fault:
                slots.drop_all()
                _end([*calls.values()], fault)
                calls.clear()
                continue
            for job in ended:
                call = calls.pop(job)
                if call.answer.set_running_or_notify_cancel():
                    call.answer.set_result(self._answer(slots, call))

    def _admit(self, slots: Slots, calls: dict[Job, _Call], held: _Call | None) -> _Call | None:
        """Take waiting rows while they fit; the row that did not fit yet. Blocks while there is nothing to do."""
        while True:
            call = held or self._next(slots, block=not slots.busy)
            held = None
            if call is None:
                return None
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
                raise _Stop
            request, answer = waiting
            try:
                return _Call(request, slots.job(request), answer)
            except TooLong:
                if answer.set_running_or_notify_cancel():
                    answer.set_result(RowFailure("too_long"))

    def _answer(self, slots: Slots, call: _Call) -> Translation | RowFailure:
        if not call.request.text:
            return Translation(text="", engine=self.name, model_version=self.version)
        text = slots.text(call.job)
        fault = fault_of(text, call.request.text, call.request.target)
        if fault is not None:
            return RowFailure(fault)
        return Translation(text=text, engine=self.name, model_version=self.version, tokens=len(call.job.written))


class _Stop(Exception):
    """The engine is being closed."""


def _end(calls: list[_Call], fault: EngineFault) -> None:
    for call in calls:
        if call.answer.set_running_or_notify_cancel():
            call.answer.set_exception(fault)
