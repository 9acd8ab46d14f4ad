"""Every Prometheus series of this layer."""

from prometheus_client import Counter, Histogram

from engines.metrics import SHED
from pipelines.ledger import durations
from pipelines.types import Cue

__all__ = ["CUES", "DROPPED", "GLOSSARY_HITS", "MASKED", "REPEATS", "SHED", "STAGE_SECONDS", "UNTRANSLATED", "observe"]

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)

STAGE_SECONDS = Histogram(
    "sampan_stage_seconds", "Time a cue spent in each stage", ("stage", "path", "tier"), buckets=_BUCKETS
)
CUES = Counter("sampan_cues_total", "Cues published, by what became of them", ("path", "result"))
UNTRANSLATED = Counter("sampan_untranslated_total", "Cues shown as they were written, by why", ("path", "reason"))
REPEATS = Counter("sampan_repeats_total", "Comments counted with another that said the same")
MASKED = Counter("sampan_masked_total", "Personal data kept from models, caches and logs", ("kind",))
GLOSSARY_HITS = Counter("sampan_glossary_hits_total", "Words that a glossary had translated its way", ("scope",))
DROPPED = Counter("sampan_speech_dropped_total", "Recognised speech kept from viewers, by cause", ("cause",))


def observe(cue: Cue, tier: str) -> None:
    """Record a final cue's stages and result."""
    for stage, took in durations(cue.ledger).items():
        STAGE_SECONDS.labels(stage, cue.kind, tier).observe(took)
    CUES.labels(cue.kind, cue.flags[0] if cue.flags else "translated").inc()
    if cue.reason is not None:
        UNTRANSLATED.labels(cue.kind, cue.reason).inc()
