"""Frames of audio files."""

import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from loadtest.sources import FRAME_BYTES, BroadcastError, frames

pytestmark = pytest.mark.unit


def _tone(path: Path, seconds: float, rate: int = 44_100, channels: int = 2) -> Path:
    samples = (8_000 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)).astype(np.int16)
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes(np.repeat(samples, channels).tobytes())
    return path


def test_any_rate_and_channels_become_16_khz_mono_frames_of_40_ms(tmp_path: Path) -> None:
    made = list(frames(str(_tone(tmp_path / "a.wav", 1.01))))
    assert {len(frame) for frame in made} == {FRAME_BYTES}
    assert len(made) == 26
    heard = np.frombuffer(b"".join(made), dtype=np.int16)
    assert np.abs(heard).max() == pytest.approx(8_000, rel=0.05)


def test_a_repeated_source_begins_again(tmp_path: Path) -> None:
    source = frames(str(_tone(tmp_path / "a.wav", 0.2, rate=16_000, channels=1)), repeat=True)
    made = [next(source) for _ in range(12)]
    source.close()
    assert made[0] == made[5] == made[10]


@pytest.mark.parametrize(
    ("content", "says"), [(None, "can't be"), (b"not audio at all" * 99, "can't be read"), (b"", "can't be read")]
)
def test_what_is_no_audio_is_refused_with_a_plain_message(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "thing.mp4"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BroadcastError, match=says) as refused:
        next(frames(str(path)))
    assert str(path) in str(refused.value)


def test_a_dead_address_is_refused_with_a_plain_message() -> None:
    with pytest.raises(BroadcastError, match="can't be"):
        next(frames("http://127.0.0.1:9/live.m3u8"))


def test_a_missing_microphone_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(BroadcastError, match="pip install sounddevice"):
        next(frames("mic"))
