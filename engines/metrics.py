"""Every Prometheus series of this layer."""

from prometheus_client import Counter, Gauge, Histogram

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)
_RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

QUEUE_SECONDS = Histogram(
    "sampan_queue_seconds",
    "Time from submission to the start of the call",
    ("engine", "tier", "pair"),
    buckets=_SECONDS,
)
REQUESTS = Counter("sampan_requests_total", "Requests that a call was started for", ("engine", "tier", "pair"))
INFER_SECONDS = Histogram("sampan_infer_seconds", "Time one call took", ("engine", "pair"), buckets=_SECONDS)
TOKENS = Counter("sampan_tokens_total", "Tokens generated", ("engine", "pair"))
BATCH_ROWS = Histogram("sampan_batch_rows", "Rows of one call", ("engine",), buckets=_ROWS)
BATCH_OCCUPANCY = Histogram(
    "sampan_batch_occupancy_ratio",
    "Rows over the most rows of a call; where a call takes one row, busy calls over the most calls",
    ("engine",),
    buckets=_RATIOS,
)
BATCH_MERGED = Counter(
    "sampan_batch_merged_total",
    "Requests that shared their call; over sampan_requests_total: merge rate",
    ("engine",),
)
CACHE = Counter(
    "sampan_cache_total",
    "Requests answered from the cache (hit), with an equal one (joined), by a call (miss)",
    ("result",),
)
ROUTES = Counter("sampan_routes_total", "Texts translated, by the models that they came by", ("pair", "route"))
SHED = Counter("sampan_shed_total", "Dropped on purpose, by cause", ("stage", "cause", "tier"))
ENGINE_UP = Gauge("sampan_engine_up", "1 while the engine answers, 0 while it is marked down", ("engine",))
ENGINE_FAULTS = Counter("sampan_engine_faults_total", "Calls and probes that failed as a whole", ("engine", "cause"))


def observe_call(engine: str, max_batch: int, *, rows: int, requests: int, busy: float) -> None:
    """A call of `rows` rows for `requests` starts; with it the share `busy` of the most calls is running."""
    occupancy = rows / max_batch if max_batch > 1 else busy
    BATCH_ROWS.labels(engine).observe(rows)
    BATCH_OCCUPANCY.labels(engine).observe(occupancy)
    BATCH_MERGED.labels(engine).inc(requests if requests > 1 else 0)
