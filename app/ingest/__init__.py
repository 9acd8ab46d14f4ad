"""Streams in: what a broadcaster sends becomes AudioChunk."""
