"""app/ingest/pcm.py"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import ServiceError
from app.ingest.pcm import PCMDecoder
from app.wire import AudioStart
from engines.audio import AudioChunk

pytestmark = pytest.mark.unit


def tone(rate_hz: int, duration_s: float, channels: int = 1) -> bytes:
    wave = np.sin(np.arange(round(rate_hz * duration_s)) * (2 * np.pi * 440 / rate_hz)) * 16_000
    return np.repeat(wave.astype("<i2"), channels).tobytes()


def decode(start: AudioStart, parts: list[bytes]) -> list[AudioChunk]:
    decoder = PCMDecoder(start)
    chunks = [decoder.feed(part, 1.0) for part in parts]
    return [chunk for chunk in [*chunks, decoder.end(1.0)] if chunk is not None]


def joined(chunks: list[AudioChunk]) -> np.ndarray:
    return np.concatenate([chunk.samples for chunk in chunks]) if chunks else np.zeros(0, np.float32)


@given(st.lists(st.integers(0, 400), max_size=12), st.sampled_from([1, 2, 6]))
def test_however_the_bytes_are_cut_the_samples_are_the_same(cuts: list[int], channels: int) -> None:
    sound = tone(16_000, 0.02, channels)
    places = sorted({0, len(sound), *(cut for cut in cuts if cut < len(sound))})
    parts = [sound[a:b] for a, b in pairwise(places)]
    start = AudioStart(sample_rate_hz=16_000, channels=channels)
    assert np.array_equal(joined(decode(start, parts)), joined(decode(start, [sound])))


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 44_100, 48_000, 96_000, 192_000])
@pytest.mark.parametrize("channels", [1, 2])
def test_any_rate_becomes_sixteen_thousand_of_the_same_length_and_pitch(rate_hz: int, channels: int) -> None:
    sound = tone(rate_hz, 1.0, channels)
    size = 2 * channels * rate_hz // 25
    samples = joined(
        decode(
            AudioStart(sample_rate_hz=rate_hz, channels=channels),
            [sound[n : n + size] for n in range(0, len(sound), size)],
        )
    )
    assert samples.dtype == np.float32
    assert abs(len(samples) - 16_000) <= 32
    spectrum = np.abs(np.fft.rfft(samples[4_000:12_000]))
    assert abs(int(spectrum.argmax()) * 2 - 440) <= 2


def test_chunks_follow_each_other_in_stream_time_from_where_the_sender_says() -> None:
    chunks = decode(AudioStart(sample_rate_hz=16_000, stream_start=12.5), [tone(16_000, 0.04)] * 3)
    assert [round(chunk.stream_start, 6) for chunk in chunks] == [12.5, 12.54, 12.58]
    assert round(chunks[-1].stream_end, 6) == 12.62


def test_half_a_frame_at_the_end_is_dropped() -> None:
    assert len(joined(decode(AudioStart(sample_rate_hz=16_000, channels=2), [b"\1\0\2\0\3"]))) == 1


def test_float_samples_that_are_no_numbers_or_too_loud_are_tamed() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 7.0, 0.5], "<f4").tobytes()
    samples = joined(decode(AudioStart(sample_rate_hz=16_000, format="f32le"), [values]))
    assert samples.tolist() == [0.0, 1.0, -1.0, 1.0, 0.5]


@pytest.mark.parametrize(
    "start",
    [
        AudioStart(sample_rate_hz=0),
        AudioStart(sample_rate_hz=-16_000),
        AudioStart(sample_rate_hz=384_000),
        AudioStart(sample_rate_hz=16_000, channels=0),
        AudioStart(sample_rate_hz=16_000, channels=9),
        AudioStart(sample_rate_hz=16_000, stream_start=-1.0),
        AudioStart(sample_rate_hz=16_000, stream_start=float("nan")),
    ],
)
def test_audio_that_can_not_be_read_is_refused_with_what_can(start: AudioStart) -> None:
    with pytest.raises(ServiceError) as refused:
        PCMDecoder(start)
    assert refused.value.code == "bad_audio"
    assert refused.value.hint
