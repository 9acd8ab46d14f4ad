"""Sound waiting to be listened to: so many seconds at most, the oldest is dropped first. Sync."""

from collections import deque
from dataclasses import replace

from engines.audio import AudioChunk, samples_in, seconds


class Backlog:
    """The chunks of one stream that wait. What was dropped leaves a gap before the next chunk."""

    def __init__(self, limit_s: float) -> None:
        self._limit = samples_in(limit_s)
        self._chunks: deque[AudioChunk] = deque(maxlen=4096)
        self._waiting = 0

    def __bool__(self) -> bool:
        return bool(self._chunks)

    def push(self, chunk: AudioChunk) -> float:
        """Add a chunk; how many seconds had to be dropped for it."""
        too_long = len(chunk.samples) - self._limit
        dropped = 0
        if too_long > 0:
            start = chunk.stream_start + seconds(too_long)
            chunk = replace(chunk, samples=chunk.samples[too_long:], stream_start=start, gap=True)
            dropped = too_long
        while self._chunks and (self._waiting + len(chunk.samples) > self._limit or len(self._chunks) == 4096):
            dropped += len(self.pop().samples)
            if self._chunks:
                self._chunks[0] = replace(self._chunks[0], gap=True)
            else:
                chunk = replace(chunk, gap=True)
        self._chunks.append(chunk)
        self._waiting += len(chunk.samples)
        return seconds(dropped)

    def pop(self) -> AudioChunk:
        """The oldest chunk. Raises IndexError where none waits."""
        chunk = self._chunks.popleft()
        self._waiting -= len(chunk.samples)
        return chunk
