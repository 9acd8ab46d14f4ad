"""What the batcher counts."""

import asyncio

import pytest
from prometheus_client import REGISTRY

from engines.batching.batcher import Batcher
from engines.batching.cache import ResultCache
from engines.batching.policy import BatchingSettings
from engines.batching.ticket import Tier
from engines.engine import Capacity
from tests.support.virtual_time import run_virtual
from tests.unit.engines.batching.builders import Engine, recording, ticket

pytestmark = pytest.mark.unit


def value(series: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(series, labels) or 0.0


def test_calls_rows_waits_cache_and_sheds_are_counted() -> None:
    engine = Engine(recording(Capacity(max_batch=4, concurrency=1), 0.5, name="counted"))
    before = {kind: value("sampan_cache_total", result=kind) for kind in ("hit", "joined", "miss")}

    async def main() -> None:
        cache: ResultCache[str, str] = ResultCache(lambda row: row)
        batcher = Batcher(
            engine, BatchingSettings(), cache=cache, stage="mt", label=lambda _: "zh>en", tokens=lambda _: 2
        )
        async with batcher as texts:
            await asyncio.gather(*(texts.submit(row, ticket(tier=Tier.PREMIUM)) for row in "aabc"))
            await texts.submit("a", ticket())
            await texts.submit("d", ticket(0.1))

    run_virtual(main())
    assert value("sampan_batch_rows_sum", engine="counted") == 3
    assert value("sampan_batch_occupancy_ratio_sum", engine="counted") == 0.75
    assert value("sampan_batch_merged_total", engine="counted") == 4
    assert value("sampan_infer_seconds_sum", engine="counted", pair="zh>en") == 0.5
    assert value("sampan_queue_seconds_count", engine="counted", tier="premium", pair="zh>en") == 4
    assert value("sampan_requests_total", engine="counted", tier="premium", pair="zh>en") == 4
    assert value("sampan_tokens_total", engine="counted", pair="zh>en") == 6
    assert value("sampan_shed_total", stage="mt", cause="deadline", tier="standard") >= 1
    counted = {kind: value("sampan_cache_total", result=kind) - before[kind] for kind in before}
    assert counted == {"hit": 1, "joined": 1, "miss": 3}
