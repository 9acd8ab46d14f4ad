"""One batcher per model: takes single rows with tickets, makes calls of them, gives every caller one outcome."""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from types import TracebackType
from typing import Generic, Self, TypeVar

from engines.batching.cache import ResultCache
from engines.batching.call import Call, Request, infer, warm
from engines.batching.flights import Flights
from engines.batching.instances import Instance, Instances
from engines.batching.policy import AskAgain, BatchingSettings, BatchPolicy, Pace
from engines.batching.queue import WaitingQueue
from engines.batching.ticket import Done, Failed, Outcome, Shed, ShedCause, Ticket
from engines.engine import Engine, RowFailure
from engines.errors import EngineFault, Unavailable
from engines.metrics import CACHE, INFER_SECONDS, QUEUE_SECONDS, REQUESTS, SHED, TOKENS, observe_call

_DRAIN_S = 2.0
_LONGEST_WARM_S = 60.0

Row = TypeVar("Row")
Result = TypeVar("Result")


class Batcher(Generic[Row, Result]):
    """Runs up to `capacity.concurrency` calls at once, each of up to `capacity.max_batch` rows of one group.

    Use as `async with batcher:`; its tasks live no longer than that. The engine is the caller's to warm and close. Of
    several instances of one model the least busy takes the next call, and a call that failed is tried again on another.
    Rows of equal cache key that wait or run at the same time are inferred once; each caller keeps its own deadline.
    A call that nobody waits for any more is cancelled. `stage` labels what is shed ("mt", "asr"); by default it is
    the engine's name.
    """

    def __init__(
        self,
        engine: Engine[Row, Result] | Sequence[Engine[Row, Result]],
        settings: BatchingSettings,
        *,
        cache: ResultCache[Row, Result] | None = None,
        stage: str | None = None,
        label: Callable[[Row], str] = lambda _: "",
        tokens: Callable[[Result], int] = lambda _: 0,
    ) -> None:
        """`label(row)`: the language pair, or what else of few values metrics are to tell apart; `tokens(result)`: how
        many were generated for it. Raises ValueError where instances differ in version.
        """
        engines = engine if isinstance(engine, Sequence) else [engine]
        self._instances = Instances(engines)
        self._engine = engine = engines[0]  # the others are like it in all that is asked of it
        self._settings = settings
        self._cache = cache
        self._stage = stage or engine.name
        self._label = label
        self._tokens = tokens
        self._queue: WaitingQueue[Request[Row, Result]] = WaitingQueue(settings)
        self._policy = BatchPolicy(settings, engine.capacity)
        self.pace = Pace()
        """How long its calls take."""
        self._probes: set[asyncio.Task[None]] = set()
        self._calls: set[Call[Row, Result]] = set()
        self._flights: Flights[Row, Result] = Flights(settings.max_queue_size)
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
            for probe in self._probes:
                probe.cancel()
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
        return None if self._instances.fault is None else Failed(self._instances.fault)

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
        if self._flights.join(request):
            CACHE.labels("joined").inc()
            return
        self._policy.arrived(now)
        for dropped, cause in self._queue.put(request, now):
            dropped.settle(Shed(cause))
        self._wake.set()

    def _give_up(self, request: Request[Row, Result]) -> None:
        """Its caller is gone, by deadline or by cancellation."""
        if request.call is None:
            self._queue.remove(request)
            self._wake.set()
        elif not request.call.is_awaited:
            # Counted as if it had ended now: otherwise only what was quick enough would say how long calls take.
            self.pace.observe(asyncio.get_running_loop().time() - request.call.started)
            self._cancel(request.call)

    async def _serve(self) -> None:
        """The one loop: start calls on what is up, probes of what is down."""
        loop = asyncio.get_running_loop()
        while self._open or self._queue or self._calls:
            self._wake.clear()
            for instance in self._instances.due(loop.time()):
                instance.probing = True
                self._probes.add(probe := self._tasks.create_task(self._probe(instance)))
                probe.add_done_callback(self._probes.discard)
            moments = [self._start_calls(loop.time()), self._instances.probe_at]
            try:
                async with asyncio.timeout_at(min((at for at in moments if at is not None), default=None)):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _probe(self, instance: Instance[Row, Result]) -> None:
        try:
            fault = await warm(instance.engine, _LONGEST_WARM_S)
        finally:
            instance.probing = False
        self._instances.probed(instance, fault, asyncio.get_running_loop().time())
        self._wake.set()

    def _start_calls(self, now: float) -> float | None:
        """Start what may run; when to ask again, None: when something happens."""
        self._shed_late(now)
        while self._instances.room > 0 and (lead := self._queue.lead()) is not None:
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
        late = self._queue.expire(now)
        places = self._instances.room * self._engine.capacity.max_batch
        if places and len(self._queue) > places:
            late += self._queue.expire(now + self.pace.usual_s, most=len(self._queue) - places)
        for request in late:
            request.settle(Shed(ShedCause.DEADLINE))

    def _start(self, call: Call[Row, Result]) -> None:
        self._calls.add(call)
        instance = self._instances.take(call)
        self._flights.start(call)
        for row in call.rows:
            if row[0].key is not None:
                CACHE.labels("miss").inc()
                CACHE.labels("joined").inc(len(row) - 1)
        for request in call:
            request.call = call
            labels = (self._engine.name, request.ticket.tier, self._label(request.row))
            QUEUE_SECONDS.labels(*labels).observe(call.started - request.since)
            REQUESTS.labels(*labels).inc()
        busy = len(self._calls) / self._instances.concurrency
        observe_call(
            self._engine.name, self._engine.capacity.max_batch, rows=len(call.rows), requests=len(list(call)), busy=busy
        )
        call.task = self._tasks.create_task(self._run(call, instance))
        # A callback, since a task that is cancelled before its first step never reaches a `finally`.
        call.task.add_done_callback(lambda _: self._ended(call))

    async def _run(self, call: Call[Row, Result], instance: Instance[Row, Result]) -> None:
        results = await self._try(call, instance)
        if isinstance(results, EngineFault) and results.retryable:
            another = await self._instances.take_another(call, instance)
            if another is not None:
                results = await self._try(call, another)
        self._flights.end(call)
        if isinstance(results, EngineFault):
            return call.settle(Failed(results))
        return self._answered(call, results)

    async def _try(
        self, call: Call[Row, Result], instance: Instance[Row, Result]
    ) -> Sequence[Result | RowFailure] | EngineFault:
        loop = asyncio.get_running_loop()
        began = loop.time()
        results = await infer(instance.engine, [row[0].row for row in call.rows])
        if isinstance(results, EngineFault):
            instance.health.faulted(results, loop.time())
            if self._instances.fault is not None:
                self._settle_waiting(Failed(self._instances.fault))
            self._wake.set()
        else:
            instance.health.answered()
            self.pace.observe(loop.time() - began)
            INFER_SECONDS.labels(self._engine.name, self._label(call.first)).observe(loop.time() - began)
        self._instances.give_back(call)
        return results

    def _answered(self, call: Call[Row, Result], results: Sequence[Result | RowFailure]) -> None:
        now = asyncio.get_running_loop().time()
        good = [
            (row[0], result)
            for row, result in zip(call.rows, results, strict=True)
            if not isinstance(result, RowFailure)
        ]
        TOKENS.labels(self._engine.name, self._label(call.first)).inc(sum(self._tokens(result) for _, result in good))
        if self._cache is not None:
            for request, result in good:
                if request.key is not None:
                    self._cache.put(request.key, result, now)
        call.answer(results, now)

    def _cancel(self, call: Call[Row, Result]) -> None:
        self._flights.end(call)
        if call.task is not None:
            call.task.cancel()

    def _ended(self, call: Call[Row, Result]) -> None:
        self._calls.discard(call)
        self._instances.give_back(call)
        self._flights.end(call)
        self._wake.set()
        call.settle(Failed(Unavailable(f"{self._engine.name} gave a call up", hint="look at the engine's own log")))

    def _settle_waiting(self, outcome: Shed | Failed) -> None:
        for request in self._queue.clear():
            request.settle(outcome)
