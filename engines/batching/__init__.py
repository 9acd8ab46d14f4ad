"""One batcher per model: deadlines, tiers, fair turns, single flight, cache."""
