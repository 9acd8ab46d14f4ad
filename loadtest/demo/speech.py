"""The host's voice: speaks script.toml once and keeps it, with the times at which each sentence is heard."""

import hashlib
import importlib.resources
import os
import subprocess
import sys
import tempfile
import tomllib
import wave
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

_SCRIPT = Path(__file__).with_name("script.toml")
_EDGE_DB = -45.0  # quieter than this under the sentence's peak is silence
_WINDOW_S = 0.01


class SpeechUnavailable(Exception):
    """The sample can't be spoken here; the message says what to install."""


class _Sentence(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    pause: float


class _Script(msgspec.Struct, frozen=True, kw_only=True):
    voice: str
    lead: float
    sentence: tuple[_Sentence, ...]


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence and the stream seconds between which it is heard."""

    text: str
    start: float
    end: float


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """The spoken script: the path of a WAV file, its length in seconds, and its sentences."""

    file: str
    seconds: float
    sentences: tuple[Spoken, ...]


def cache_folder() -> Path:
    """Where the spoken script is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "sampan" / "demo"


def sample(folder: Path | None = None) -> Sample:
    """The sample, spoken now if it was not before. Raises SpeechUnavailable."""
    folder = folder or cache_folder()
    key = hashlib.sha256(_SCRIPT.read_bytes()).hexdigest()[:16]
    notes = folder / f"{key}.json"
    if notes.exists() and notes.with_suffix(".wav").exists():
        known = msgspec.json.decode(notes.read_bytes(), type=Sample)
        return msgspec.structs.replace(known, file=str(notes.with_suffix(".wav")))
    folder.mkdir(parents=True, exist_ok=True)
    script = msgspec.convert(tomllib.loads(_SCRIPT.read_text(encoding="utf-8")), _Script)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        spoken = _speak(script, Path(work))
        made = _join(script, spoken, notes.with_suffix(".wav"))
    notes.write_bytes(msgspec.json.encode(made))
    return made


def _speak(script: _Script, work: Path) -> list[Path]:
    """One WAV file a sentence, in order. Piper runs as a program of its own, as its licence differs from ours."""
    model, config = _voice(script.voice)
    text = work / "script.txt"
    text.write_text("\n".join(sentence.text for sentence in script.sentence), encoding="utf-8")
    command = [sys.executable, "-m", "piper", "-m", str(model), "-c", str(config), "-i", str(text), "-d", str(work)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=300)
    except subprocess.SubprocessError as error:
        said = getattr(error, "stderr", None) or b""
        last = said.decode(errors="replace").strip().rpartition("\n")[2]
        raise SpeechUnavailable(f"piper could not speak the script: {last or error}") from error
    spoken = sorted(work.glob("*.wav"), key=lambda file: int(file.stem))
    if len(spoken) != len(script.sentence):
        raise SpeechUnavailable(f"piper spoke {len(spoken)} sentences of {len(script.sentence)}")
    return spoken


def _voice(package: str) -> tuple[Path, Path]:
    try:
        folder = Path(str(importlib.resources.files(package))) / "data"
    except ModuleNotFoundError as error:
        raise SpeechUnavailable(f"the voice {package} is not installed: pip install 'sampan[demo]'") from error
    models = sorted(folder.glob("*.onnx"))
    if not models:
        raise SpeechUnavailable(f"the package {package} holds no voice")
    return models[0], models[0].with_name(models[0].name + ".json")


def _join(script: _Script, spoken: list[Path], out: Path) -> Sample:
    rate = _read(spoken[0])[1]
    pieces: list[NDArray[np.int16]] = [_silence(script.lead, rate)]
    sentences, at = [], len(pieces[0])
    for sentence, file in zip(script.sentence, spoken, strict=True):
        samples = _trimmed(_read(file)[0], rate)
        sentences.append(Spoken(text=sentence.text, start=at / rate, end=(at + len(samples)) / rate))
        pieces += [samples, _silence(sentence.pause, rate)]
        at += len(samples) + len(pieces[-1])
    part = out.with_suffix(".part")
    with wave.open(str(part), "wb") as file_out:
        file_out.setparams((1, 2, rate, 0, "NONE", ""))
        file_out.writeframes(np.concatenate(pieces).tobytes())
    part.replace(out)
    return Sample(file=str(out), seconds=at / rate, sentences=tuple(sentences))


def _read(file: Path) -> tuple[NDArray[np.int16], int]:
    with wave.open(str(file), "rb") as opened:
        return np.frombuffer(opened.readframes(opened.getnframes()), dtype=np.int16), opened.getframerate()


def _silence(seconds: float, rate: int) -> NDArray[np.int16]:
    return np.zeros(round(seconds * rate), dtype=np.int16)


def _trimmed(samples: NDArray[np.int16], rate: int) -> NDArray[np.int16]:
    """Without the silence around the voice, so that a sentence's times are those at which it is heard."""
    window = round(_WINDOW_S * rate)
    whole = samples[: len(samples) // window * window].astype(np.float64).reshape(-1, window)
    level = np.sqrt((whole**2).mean(axis=1))
    heard = np.flatnonzero(level > level.max() * 10 ** (_EDGE_DB / 20))
    return samples[heard[0] * window : (heard[-1] + 1) * window]
