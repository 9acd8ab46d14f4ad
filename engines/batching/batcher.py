"""One batcher per model: takes single rows with tickets, makes calls of them, gives every caller one outcome."""

import asyncio
from collections.abc import Hashable, Sequence
from types import TracebackType
from typing import Generic, Self, TypeVar

from engines.batching.cache import ResultCache
from engines.batching.call import Call, Request, infer, warm
from engines.batching.health import Health
from engines.batching.policy import AskAgain, BatchingSettings, BatchPolicy, Pace, is_due
from engines.batching.queue import WaitingQueue
from engines.batching.ticket import Done, Failed, Outcome, Shed, ShedCause, Ticket
from engines.engine import Engine, RowFailure
from engines.errors import EngineFault, Unavailable
from engines.metrics import CACHE, INFER_SECONDS, QUEUE_SECONDS, SHED, observe_call

_DRAIN_S = 2.0
_LONGEST_WARM_S = 60.0

Row = TypeVar("Row")
Result = TypeVar("Result")


class Batcher(Generic[Row, Result]):
    """Runs up to `capacity.concurrency` calls at once, each of up to `capacity.max_batch` rows of one group.

    Use as `async with batcher:`; its tasks live no longer than that. The engine is the caller's to warm and close.
    Rows of equal cache key that wait or run at the same time are inferred once; each caller keeps its own deadline.
    A call that nobody waits for any more is cancelled. `stage` labels what is shed ("mt", "asr"); by default it is
    the engine's name.
    """

    def __init__(
        self,
        engine: Engine[Row, Result],
        settings: BatchingSettings,
        *,
        cache: ResultCache[Row, Result] | None = None,
        stage: str | None = None,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._cache = cache
        self._stage = stage or engine.name
        self._queue: WaitingQueue[Request[Row, Result]] = WaitingQueue(settings)
        self._policy = BatchPolicy(settings, engine.capacity)
        self._pace = Pace()
        self._health = Health(engine.name)
        self._calls: set[Call[Row, Result]] = set()
        self._running: dict[Hashable, list[Request[Row, Result]]] = {}
        self._wake = asyncio.Event()
        self._tasks = asyncio.TaskGroup()
        self._serving: asyncio.Task[None] | None = None
        self._open = False

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._open = True
        self._serving = self._tasks.create_task(self._serve())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.close()
        finally:
            # The body's own exception passes as it is, not in the group's.
            await self._tasks.__aexit__(None, None, None)

    async def submit(self, row: Row, ticket: Ticket) -> Outcome[Result]:
        """One row's outcome, at the ticket's deadline at the latest. Raises nothing that the engine raised.

        Cancelling takes the row out of the queue, or ends its call where nobody else waits for that.
        """
        now = asyncio.get_running_loop().time()
        key = self._cache.key(row, self._engine.version) if self._cache is not None else None
        outcome = self._without_waiting(key, ticket, now)
        if outcome is None:
            outcome = await self._with_waiting(row, key, ticket, now)
        if isinstance(outcome, Shed):
            SHED.labels(self._stage, outcome.cause, ticket.tier).inc()
        return outcome

    async def close(self) -> None:
        """Refuse new rows, finish the accepted ones for at most 2 s, shed the rest. A second call does no harm."""
        self._open = False
        if self._serving is None:
            return
        self._wake.set()
        try:
            await asyncio.wait({self._serving}, timeout=_DRAIN_S)
        finally:
            self._serving.cancel()
            self._settle_waiting(Shed(ShedCause.CLOSED))
            for call in self._calls:
                call.settle(Shed(ShedCause.CLOSED))
                self._cancel(call)

    def _without_waiting(self, key: Hashable | None, ticket: Ticket, now: float) -> Outcome[Result] | None:
        if not self._open:
            return Shed(ShedCause.CLOSED)
        if ticket.deadline <= now:
            return Shed(ShedCause.DEADLINE)
        if self._cache is not None and key is not None:
            result = self._cache.get(key, now)
            if result is not None:
                CACHE.labels("hit").inc()
                return Done(result=result, queued_s=0.0, infer_s=0.0, batch_rows=0, cached=True)
        return None if self._health.fault is None else Failed(self._health.fault)

    async def _with_waiting(self, row: Row, key: Hashable | None, ticket: Ticket, now: float) -> Outcome[Result]:
        request = Request(
            row=row,
            ticket=ticket,
            group=self._engine.group(row),
            key=key,
            since=now,
            answer=asyncio.get_running_loop().create_future(),
        )
        self._admit(request, now)
        try:
            async with asyncio.timeout_at(ticket.deadline):
                return await request.answer
        except TimeoutError:
            return Shed(ShedCause.DEADLINE)
        finally:
            if request.answer.cancelled():
                self._give_up(request)

    def _admit(self, request: Request[Row, Result], now: float) -> None:
        running = self._running.get(request.key)
        if running is not None and len(running) < self._settings.max_queue_size:
            request.call = running[0].call
            running.append(request)
            CACHE.labels("joined").inc()
            return
        for dropped, cause in self._queue.put(request, now):
            dropped.settle(Shed(cause))
        self._wake.set()

    def _give_up(self, request: Request[Row, Result]) -> None:
        """Its caller is gone, by deadline or by cancellation."""
        if request.call is None:
            self._queue.remove(request)
            self._wake.set()
        elif not request.call.is_awaited:
            self._cancel(request.call)

    async def _serve(self) -> None:
        """The one loop: start calls while the engine is up, probe it while it is down."""
        loop = asyncio.get_running_loop()
        while self._open or self._queue or self._calls:
            self._wake.clear()
            if self._health.fault is None:
                until = self._start_calls(loop.time())
            elif is_due(self._health.probe_at, loop.time()):
                self._health.probed(await warm(self._engine, _LONGEST_WARM_S), loop.time())
                continue
            else:
                until = self._health.probe_at
            try:
                async with asyncio.timeout_at(until):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _start_calls(self, now: float) -> float | None:
        """Start what may run; when to ask again, None: when something happens."""
        self._shed_late(now)
        while len(self._calls) < self._engine.capacity.concurrency and (lead := self._queue.lead()) is not None:
            waiting, since = self._queue.group(lead.group)
            decision = self._policy.decide(waiting, since, now)
            if isinstance(decision, AskAgain):
                return decision.at
            self._start(Call(self._queue.take(lead.group, decision.rows), now))
        return None

    def _shed_late(self, now: float) -> None:
        """Shed what has expired and, while more waits than can start, what would end too late.

        Under load the earliest deadlines are always nearly over: without this every call would end too late.
        """
        capacity = self._engine.capacity
        late = self._queue.expire(now)
        places = (capacity.concurrency - len(self._calls)) * capacity.max_batch
        if places and len(self._queue) > places:
            late += self._queue.expire(now + self._pace.usual_s, most=len(self._queue) - places)
        for request in late:
            request.settle(Shed(ShedCause.DEADLINE))

    def _start(self, call: Call[Row, Result]) -> None:
        self._calls.add(call)
        for row in call.rows:
            if row[0].key is not None:
                self._running[row[0].key] = row
                CACHE.labels("miss").inc()
                CACHE.labels("joined").inc(len(row) - 1)
        for request in call:
            request.call = call
            QUEUE_SECONDS.labels(self._engine.name, request.ticket.tier).observe(call.started - request.since)
        observe_call(self._engine.name, self._engine.capacity, rows=len(call.rows), calls=len(self._calls))
        call.task = self._tasks.create_task(self._run(call))
        # A callback, since a task that is cancelled before its first step never reaches a `finally`.
        call.task.add_done_callback(lambda _: self._ended(call))

    async def _run(self, call: Call[Row, Result]) -> None:
        loop = asyncio.get_running_loop()
        rows = [row[0].row for row in call.rows]
        retried = False
        while True:
            began = loop.time()
            results = await infer(self._engine, rows)
            if not isinstance(results, EngineFault):
                return self._answered(call, results, loop.time() - began)
            self._faulted(results)
            if retried or not results.retryable or self._health.fault is not None:
                self._forget(call)
                return call.settle(Failed(results))
            retried = True

    def _answered(self, call: Call[Row, Result], results: Sequence[Result | RowFailure], took_s: float) -> None:
        now = asyncio.get_running_loop().time()
        self._health.answered()
        self._pace.observe(took_s)
        INFER_SECONDS.labels(self._engine.name).observe(took_s)
        if self._cache is not None:
            for row, result in zip(call.rows, results, strict=True):
                if row[0].key is not None and not isinstance(result, RowFailure):
                    self._cache.put(row[0].key, result, now)
        self._forget(call)
        call.answer(results, now)

    def _faulted(self, fault: EngineFault) -> None:
        self._health.faulted(fault, asyncio.get_running_loop().time())
        if self._health.fault is not None:
            self._settle_waiting(Failed(self._health.fault))
            self._wake.set()

    def _cancel(self, call: Call[Row, Result]) -> None:
        self._forget(call)
        if call.task is not None:
            call.task.cancel()

    def _ended(self, call: Call[Row, Result]) -> None:
        self._calls.discard(call)
        self._forget(call)
        self._wake.set()
        call.settle(Failed(Unavailable(f"{self._engine.name} gave a call up", hint="look at the engine's own log")))

    def _forget(self, call: Call[Row, Result]) -> None:
        """Nobody joins this call any more."""
        for row in call.rows:
            if self._running.get(row[0].key) is row:
                del self._running[row[0].key]

    def _settle_waiting(self, outcome: Shed | Failed) -> None:
        for request in self._queue.clear():
            request.settle(outcome)
