"""app/supervise.py, in virtual time"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from structlog.testing import capture_logs

from app.supervise import supervise
from tests.support.virtual_time import run_virtual

pytestmark = pytest.mark.unit


class Flaky:
    """Breaks so many times, then ends by itself; remembers when it was started."""

    def __init__(self, faults: int) -> None:
        self.starts: list[float] = []
        self._faults = faults

    async def __call__(self) -> None:
        self.starts.append(asyncio.get_running_loop().time())
        if len(self.starts) <= self._faults:
            raise RuntimeError("somebody said this")


def run(task: Callable[[], Awaitable[None]], restarts: int) -> bool:
    return run_virtual(supervise("task", task, restarts=restarts, fields={"room": "r"}))


def test_what_ends_by_itself_is_not_started_again() -> None:
    task = Flaky(0)
    assert run(task, restarts=3)
    assert task.starts == [0.0]


def test_what_breaks_is_started_again_later_each_time_up_to_half_a_minute() -> None:
    task = Flaky(8)
    assert run(task, restarts=8)
    waits = [later - earlier for earlier, later in zip(task.starts, task.starts[1:], strict=False)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_after_a_minute_without_a_fault_the_earlier_ones_are_forgotten() -> None:
    starts: list[float] = []

    async def task() -> None:
        starts.append(asyncio.get_running_loop().time())
        if len(starts) == 4:
            return
        await asyncio.sleep(61)
        raise RuntimeError

    assert run(task, restarts=1)
    assert starts == [0.0, 61.5, 123.0, 184.5]


@pytest.mark.parametrize("restarts", [0, 2])
def test_what_breaks_once_too_often_is_given_up_without_another_wait(restarts: int) -> None:
    task = Flaky(100)
    assert not run(task, restarts)
    assert len(task.starts) == restarts + 1


def test_the_log_says_what_broke_and_where_but_not_its_text() -> None:
    with capture_logs() as lines:
        run(Flaky(1), restarts=1)
    (line,) = lines
    assert (line["event"], line["task"], line["attempt"], line["room"]) == ("task_failed", "task", 0, "r")
    (kind,) = line["fault"]
    assert kind.startswith("RuntimeError at test_supervise.py:")
    assert "somebody said this" not in str(line)


def test_each_fault_of_a_group_is_named() -> None:
    async def broken() -> None:
        raise ExceptionGroup("text", [ValueError("text"), ExceptionGroup("text", [KeyError("text")])])

    with capture_logs() as lines:
        run(broken, restarts=0)
    assert lines[0]["fault"] == ["ValueError at ?", "KeyError at ?"]


def test_cancellation_passes_through() -> None:
    async def main() -> None:
        async with asyncio.timeout(1):
            await supervise("task", asyncio.Event().wait, restarts=5, fields={})  # type: ignore[arg-type]

    with pytest.raises(TimeoutError):
        run_virtual(main())
