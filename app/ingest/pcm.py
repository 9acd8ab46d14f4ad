"""PCM as it comes over a socket: interleaved samples of any rate become AudioChunks."""

import av
import numpy as np
from numpy.typing import NDArray

from app.errors import ServiceError
from app.wire import AudioStart
from engines.audio import SAMPLE_RATE_HZ, AudioChunk, Samples, seconds

LOWEST_RATE_HZ = 8_000
HIGHEST_RATE_HZ = 192_000
MOST_CHANNELS = 8
LATEST_START_S = 1e10  # more than any clock of seconds shows, less than one of milliseconds

_INT16_FULL_SCALE = 32_768.0
# What a channel counts in the mix, after ITU-R BS.775; others count alike. In the order of WAV files 5.1 and 7.1 have
# voices in the third and rumble in the fourth.
_SURROUND = {
    6: (0.707, 0.707, 1.0, 0.0, 0.5, 0.5),
    8: (0.707, 0.707, 1.0, 0.0, 0.5, 0.5, 0.5, 0.5),
}


class PCMDecoder:
    """Turns one connection's bytes into mono 16 kHz chunks with their place in the stream.

    The first chunk is marked as a gap: it follows nothing that an earlier connection sent.
    """

    def __init__(self, start: AudioStart) -> None:
        """Raises ServiceError where the announced audio is none that can be read."""
        if not LOWEST_RATE_HZ <= start.sample_rate_hz <= HIGHEST_RATE_HZ:
            raise ServiceError(
                "bad_audio",
                f"a sample rate of {start.sample_rate_hz} Hz",
                hint=f"send {LOWEST_RATE_HZ} to {HIGHEST_RATE_HZ} Hz; 16000 needs no conversion",
            )
        if not 1 <= start.channels <= MOST_CHANNELS:
            raise ServiceError("bad_audio", f"{start.channels} channels", hint=f"send 1 to {MOST_CHANNELS} channels")
        if not 0 <= start.stream_start <= LATEST_START_S:
            raise ServiceError(
                "bad_audio",
                f"stream_start is not a time: {start.stream_start}",
                hint=f"send seconds, 0 to {LATEST_START_S:.0f}",
            )
        self._start = start
        counts = np.array(_SURROUND.get(start.channels, (1.0,) * start.channels), np.float32)
        self._shares = counts / counts.sum()
        self._frame_bytes = start.channels * (2 if start.format == "s16le" else 4)
        self._rest = b""
        self._samples = 0
        self._resampler = None
        if start.sample_rate_hz != SAMPLE_RATE_HZ:
            self._resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE_HZ)

    @property
    def taken_s(self) -> float:
        """Seconds of sound decoded so far."""
        return seconds(self._samples)

    def size_of(self, duration_s: float) -> int:
        """Bytes of so many seconds as they are sent, in whole frames."""
        return round(duration_s * self._start.sample_rate_hz) * self._frame_bytes

    def feed(self, received: bytes, now: float) -> AudioChunk | None:
        """The sound in these bytes; a frame cut in two waits for its other half. None where there is none yet."""
        whole = self._rest + received
        end = len(whole) - len(whole) % self._frame_bytes
        self._rest = whole[end:]
        if not end:
            return None
        return self._chunk(self._resample(self._mono(whole[:end])), now)

    def end(self, now: float) -> AudioChunk | None:
        """What the resampler still holds. Half a frame at the end is dropped."""
        if self._resampler is None:
            return None
        return self._chunk(_joined(self._resampler.resample(None)), now)

    def _mono(self, received: bytes) -> Samples:
        if self._start.format == "s16le":
            values: NDArray[np.float32] = np.frombuffer(received, "<i2").astype(np.float32) / _INT16_FULL_SCALE
        else:
            values = np.nan_to_num(np.frombuffer(received, "<f4"), nan=0.0, posinf=1.0, neginf=-1.0).clip(-1.0, 1.0)
        mono: Samples = (values.reshape(-1, self._start.channels) * self._shares).sum(axis=1, dtype=np.float32)
        return mono

    def _resample(self, mono: Samples) -> Samples:
        if self._resampler is None:
            return mono
        frame = av.AudioFrame.from_ndarray(mono[np.newaxis, :], format="flt", layout="mono")
        frame.sample_rate = self._start.sample_rate_hz
        return _joined(self._resampler.resample(frame))

    def _chunk(self, samples: Samples, now: float) -> AudioChunk | None:
        if not len(samples):
            return None
        stream_start, first = self._start.stream_start + self.taken_s, not self._samples
        self._samples += len(samples)
        return AudioChunk(stream_start=stream_start, samples=samples, received_at=now, gap=first)


def _joined(frames: list[av.AudioFrame]) -> Samples:
    arrays = [np.asarray(frame.to_ndarray(), np.float32).reshape(-1) for frame in frames]
    return np.concatenate(arrays) if arrays else np.zeros(0, np.float32)
