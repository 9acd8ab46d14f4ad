"""Every Prometheus series of this layer."""

from prometheus_client import Counter, Gauge, Histogram

from engines.engine import Capacity

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)
_RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

QUEUE_SECONDS = Histogram(
    "sampan_queue_seconds", "Time from submission to the start of the call", ("engine", "tier"), buckets=_SECONDS
)
INFER_SECONDS = Histogram("sampan_infer_seconds", "Time one call took", ("engine",), buckets=_SECONDS)
BATCH_ROWS = Histogram("sampan_batch_rows", "Rows of one call", ("engine",), buckets=_ROWS)
BATCH_OCCUPANCY = Histogram(
    "sampan_batch_occupancy_ratio",
    "Rows over the most rows of a call; where a call takes one row, busy calls over the most calls",
    ("engine",),
    buckets=_RATIOS,
)
BATCH_MERGED = Counter("sampan_batch_merged_total", "Rows that shared their call with others", ("engine",))
CACHE = Counter(
    "sampan_cache_total",
    "Requests answered from the cache (hit), with an equal one (joined), by a call (miss)",
    ("result",),
)
SHED = Counter("sampan_shed_total", "Dropped on purpose, by cause", ("stage", "cause", "tier"))
ENGINE_UP = Gauge("sampan_engine_up", "1 while the engine answers, 0 while it is marked down", ("engine",))
ENGINE_FAULTS = Counter("sampan_engine_faults_total", "Calls and probes that failed as a whole", ("engine", "cause"))


def observe_call(engine: str, capacity: Capacity, *, rows: int, calls: int) -> None:
    """A call of `rows` rows starts; with it `calls` are running."""
    occupancy = rows / capacity.max_batch if capacity.max_batch > 1 else calls / capacity.concurrency
    BATCH_ROWS.labels(engine).observe(rows)
    BATCH_OCCUPANCY.labels(engine).observe(occupancy)
    BATCH_MERGED.labels(engine).inc(rows if rows > 1 else 0)
