"""Percentiles of waits."""

import math
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile of at least one value."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
