import asyncio

import msgspec
import pytest

from engines.engine import Capacity
from engines.errors import Unavailable
from engines.testing.recorded import Measured, RecordedEngine, Recording
from tests.support.virtual_time import run_virtual

pytestmark = pytest.mark.unit

RECORDING = Recording(
    name="llama.cpp",
    version="qwen@1",
    capacity=Capacity(max_batch=8, concurrency=4),
    measured=(
        Measured(rows=1, busy=1, seconds=0.3),
        Measured(rows=8, busy=1, seconds=1.0),
        Measured(rows=8, busy=1, seconds=1.2),
        Measured(rows=1, busy=4, seconds=2.0),
    ),
)


def engine(seed: int = 0) -> RecordedEngine[str, str]:
    return RecordedEngine(RECORDING, str.upper, group=len, seed=seed)


async def took(recorded: RecordedEngine[str, str], rows: int = 1) -> float:
    loop = asyncio.get_running_loop()
    start = loop.time()
    await recorded.run(["a"] * rows)
    return round(loop.time() - start, 6)


def test_a_call_takes_what_the_nearest_measured_load_took() -> None:
    async def main() -> None:
        recorded = engine()
        assert await recorded.run(["a", "b"]) == ["A", "B"]
        assert await took(recorded) == 0.3
        assert await took(recorded, rows=7) in (1.0, 1.2)
        assert await asyncio.gather(*(took(recorded) for _ in range(4))) == [0.3, 0.3, 2.0, 2.0]
        assert recorded.busy == 0

    run_virtual(main())


def test_the_same_seed_gives_the_same_latencies() -> None:
    async def main() -> None:
        first, second, other = engine(), engine(), engine(seed=1)
        drawn = [[await took(each, rows=8) for _ in range(20)] for each in (first, second, other)]
        assert drawn[0] == drawn[1] != drawn[2]

    run_virtual(main())


def test_a_cancelled_call_frees_its_place() -> None:
    async def main() -> None:
        recorded = engine()
        call = asyncio.create_task(took(recorded))
        await asyncio.sleep(0.1)
        assert recorded.busy == 1
        call.cancel()
        await asyncio.wait({call})
        assert recorded.busy == 0

    run_virtual(main())


def test_a_closed_engine_refuses_calls_and_closes_twice() -> None:
    async def main() -> None:
        recorded = engine()
        await recorded.warm()
        await recorded.close()
        await recorded.close()
        for refused in (recorded.run(["a"]), recorded.warm()):
            with pytest.raises(Unavailable):
                await refused

    run_virtual(main())


def test_a_recording_is_read_from_json_and_needs_a_measurement() -> None:
    assert msgspec.json.decode(msgspec.json.encode(RECORDING), type=Recording) == RECORDING
    empty = {"name": "x", "version": "1", "capacity": {"max_batch": 1, "concurrency": 1}, "measured": []}
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(empty, Recording)
