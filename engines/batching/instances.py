"""The instances of one model: which takes the next call, which is down, when it is probed."""

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from engines.batching.health import Health
from engines.batching.policy import is_due
from engines.engine import Engine
from engines.errors import EngineFault

Row = TypeVar("Row")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class Instance(Generic[Row, Result]):
    """One engine, how many calls it has, and whether it is up."""

    engine: Engine[Row, Result]
    health: Health
    calls: int = 0
    probing: bool = False

    @property
    def room(self) -> int:
        """How many calls it takes besides those that it has; 0 while it is down."""
        return self.engine.capacity.concurrency - self.calls if self.health.fault is None else 0


class Instances(Generic[Row, Result]):
    """Engines of one model and version, alike in all but where they run."""

    def __init__(self, engines: Sequence[Engine[Row, Result]]) -> None:
        """Raises ValueError where there is none or their versions differ."""
        if not engines or len({engine.version for engine in engines}) > 1:
            raise ValueError("the instances of a model need to be one or more, of one version")
        alone = len(engines) == 1
        self._all = [
            Instance(engine, Health(engine.name if alone else f"{engine.name}#{number}"))
            for number, engine in enumerate(engines)
        ]
        self._held: dict[Hashable, Instance[Row, Result]] = {}  # by the calls that they run
        self._waiting = 0  # second tries that no instance has room for
        self._changed = asyncio.Event()

    @property
    def fault(self) -> EngineFault | None:
        """Why none is up; None while one is."""
        faults = [instance.health.fault for instance in self._all]
        return faults[0] if all(fault is not None for fault in faults) else None

    @property
    def room(self) -> int:
        """How many more calls may be started now; second tries come first."""
        return sum(instance.room for instance in self._all) - self._waiting

    @property
    def concurrency(self) -> int:
        """How many calls all of them take at once."""
        return sum(instance.engine.capacity.concurrency for instance in self._all)

    def take(self, call: Hashable) -> Instance[Row, Result]:
        """The one with most room, for a call, until that gives it back. Only while there is room."""
        return self._hold(call, max(self._all, key=lambda instance: instance.room))

    async def take_another(self, call: Hashable, last: Instance[Row, Result]) -> Instance[Row, Result] | None:
        """One for a second try, waiting for room: not the `last` where another is up; None when all are down."""
        self._waiting += 1
        try:
            while self.fault is None:
                up = [instance for instance in self._all if instance.health.fault is None]
                instance = max([one for one in up if one is not last] or up, key=lambda instance: instance.room)
                if instance.room > 0:
                    return self._hold(call, instance)
                await self._changed.wait()
        finally:
            self._waiting -= 1
        return None

    def give_back(self, call: Hashable) -> None:
        """A call has ended; one that holds no instance any more may say so again."""
        instance = self._held.pop(call, None)
        if instance is not None:
            instance.calls -= 1
            self._change()

    def probed(self, instance: Instance[Row, Result], fault: EngineFault | None, now: float) -> None:
        """A probe has ended: the instance is up again, or not."""
        instance.health.probed(fault, now)
        self._change()

    def due(self, now: float) -> list[Instance[Row, Result]]:
        """Those that are down and to be probed at `now`."""
        return [one for one in self._all if is_due(one.health.probe_at, now) and not one.probing]

    @property
    def probe_at(self) -> float | None:
        """When the next is to be probed; None where none is."""
        return min((one.health.probe_at for one in self._all if not one.probing), default=None)

    def _hold(self, call: Hashable, instance: Instance[Row, Result]) -> Instance[Row, Result]:
        instance.calls += 1
        self._held[call] = instance
        return instance

    def _change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
