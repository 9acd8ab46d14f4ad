"""Audio of any file, URL or microphone as 40 ms frames of 16 kHz mono s16le."""

from collections.abc import Generator, Iterator
from typing import Any

import av
import av.error

SAMPLE_RATE_HZ = 16_000
FRAME_S = 0.04
FRAME_SAMPLES = int(SAMPLE_RATE_HZ * FRAME_S)
FRAME_BYTES = 2 * FRAME_SAMPLES
_OPEN_S, _READ_S = 10.0, 15.0
_LISTEN_S = 300.0  # for a sender to connect, where the URL says "listen=1"


class BroadcastError(Exception):
    """The audio can't be read or the server does not take it; the message says what and why."""


def frames(source: str, *, repeat: bool = False, tail_s: float = 0.0) -> Generator[bytes, None, None]:
    """Frames of `source`: a file, a URL or "mic"; the last one is filled with silence, and `tail_s` of it follow.

    Blocks while reading, so run it in a thread of its own; closing the iterator closes the source.
    Raises BroadcastError.
    """
    if source == "mic":
        yield from _microphone()
        return
    while True:
        yield from _framed(_decoded(source))
        if not repeat:
            break
    for _ in range(round(tail_s / FRAME_S)):
        yield bytes(FRAME_BYTES)


def _framed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    pending = bytearray()
    for piece in pieces:
        pending += piece
        while len(pending) >= FRAME_BYTES:
            yield bytes(pending[:FRAME_BYTES])
            del pending[:FRAME_BYTES]
    if pending:
        yield bytes(pending).ljust(FRAME_BYTES, b"\0")


def _decoded(source: str) -> Iterator[bytes]:
    try:
        with av.open(source, timeout=(_LISTEN_S if "listen=1" in source else _OPEN_S, _READ_S)) as container:
            if not container.streams.audio:
                raise BroadcastError(f"{source}: has no audio")
            yield from _resampled(container, source)
    except av.error.FFmpegError as error:
        raise BroadcastError(f"{source}: can't be read: {error.strerror}") from error
    except OSError as error:
        raise BroadcastError(f"{source}: can't be opened: {error.strerror or error}") from error


def _resampled(container: Any, source: str) -> Iterator[bytes]:
    resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)
    heard = False
    for packet in container.demux(container.streams.audio[0]):
        try:
            decoded = packet.decode()
        except av.error.InvalidDataError:  # a damaged packet costs itself, not the stream
            continue
        for frame in decoded:
            heard = True
            for piece in resampler.resample(frame):
                yield piece.to_ndarray().tobytes()
    if not heard:
        raise BroadcastError(f"{source}: holds no audio that can be decoded")
    for piece in resampler.resample(None):
        yield piece.to_ndarray().tobytes()


def _microphone() -> Iterator[bytes]:
    try:
        import sounddevice
    except ImportError as error:
        raise BroadcastError("the microphone needs the Python package sounddevice: pip install sounddevice") from error
    except OSError as error:
        raise BroadcastError("the microphone needs PortAudio: apt-get install libportaudio2") from error
    try:
        with sounddevice.RawInputStream(
            samplerate=SAMPLE_RATE_HZ, channels=1, dtype="int16", blocksize=FRAME_SAMPLES
        ) as stream:
            while True:
                yield bytes(stream.read(FRAME_SAMPLES)[0])
    except sounddevice.PortAudioError as error:
        raise BroadcastError(f"no microphone could be opened: {error}") from error
