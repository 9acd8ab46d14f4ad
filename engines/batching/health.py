"""Whether an engine is up: three faulty calls in a row mark it down, a probe brings it back."""

import logging

from engines.errors import EngineFault
from engines.metrics import ENGINE_FAULTS, ENGINE_UP

_FAULTS_IN_A_ROW = 3
_FIRST_PROBE_S = 5.0
_LONGEST_PROBE_S = 60.0

log = logging.getLogger(__name__)


class Health:
    """Counts faults in a row and says when to probe (seconds of the loop's clock). Sync."""

    def __init__(self, engine: str) -> None:
        self.fault: EngineFault | None = None
        """Why the engine is down; None while it is up."""
        self.probe_at = float("inf")
        self._engine = engine
        self._faults = 0
        self._probe_s = _FIRST_PROBE_S
        ENGINE_UP.labels(engine).set(1)

    def answered(self) -> None:
        """A call went well. An engine that is down stays so: only a probe brings it back."""
        self._faults = 0

    def faulted(self, fault: EngineFault, now: float) -> None:
        """A call failed as a whole."""
        self._record(fault)
        self._faults += 1
        if self.fault is None and self._faults >= _FAULTS_IN_A_ROW:
            log.error("%s is down and will be probed", self._engine)
            ENGINE_UP.labels(self._engine).set(0)
            self.fault = fault
            self._probe_s = _FIRST_PROBE_S
            self.probe_at = now + self._probe_s

    def probed(self, fault: EngineFault | None, now: float) -> None:
        """Up again without a fault; otherwise the next probe comes after twice as long, at most 60 s."""
        self.fault = fault
        if fault is None:
            log.warning("%s is up again", self._engine)
            ENGINE_UP.labels(self._engine).set(1)
            self._faults = 0
            self.probe_at = float("inf")
        else:
            self._record(fault)
            self._probe_s = min(2 * self._probe_s, _LONGEST_PROBE_S)
            self.probe_at = now + self._probe_s

    def _record(self, fault: EngineFault) -> None:
        # Only kind and place: a message of a server's may quote what somebody said.
        cause = type(fault).__name__
        ENGINE_FAULTS.labels(self._engine, cause).inc()
        log.warning("%s failed: %s", self._engine, fault.detail if cause == "EngineFault" else cause)
