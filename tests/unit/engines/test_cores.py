"""engines/cores.py, engines/languages.py and engines/audio.py"""

import numpy as np
import pytest

from engines.audio import AudioChunk, samples_in, seconds
from engines.cores import Cores
from engines.languages import LANGUAGES, UnknownLanguage, is_chinese, parse_language

pytestmark = pytest.mark.unit


def test_what_one_claims_the_other_does_not_get_and_something_is_always_left() -> None:
    cores = Cores(4)
    assert cores.free() == 4
    with cores.claim(1):
        assert cores.free() == 3
        with cores.claim(3):
            assert cores.free() == 1
    assert cores.free() == 4


def test_a_claim_ends_with_an_error_too() -> None:
    cores = Cores(2)
    with pytest.raises(RuntimeError), cores.claim(1):
        raise RuntimeError
    assert cores.free() == 2


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("zh", "zh-Hans"),
        ("ZH-hans", "zh-Hans"),
        ("zh-Hant-HK", "zh-Hant-HK"),
        ("zh_TW", "zh-Hant"),
        ("zh-hk", "zh-Hant-HK"),
        ("zh-yue", "yue"),
        ("en-US", "en"),
        (" vi ", "vi"),
        ("tl", "fil"),
        ("in", "id"),
    ],
)
def test_a_tag_is_taken_as_the_nearest_language(tag: str, language: str) -> None:
    assert parse_language(tag) == language


@pytest.mark.parametrize("tag", ["", "xx", "english", "-", "e", "zhh", "ﬀ", "x" * 10_000])
def test_a_tag_of_no_language_is_refused_with_those_there_are(tag: str) -> None:
    with pytest.raises(UnknownLanguage) as refused:
        parse_language(tag)
    assert "zh-Hans" in str(refused.value)
    assert len(str(refused.value)) < 300


def test_chinese_is_told_from_japanese() -> None:
    assert [tag for tag in LANGUAGES if is_chinese(tag)] == ["zh-Hans", "zh-Hant", "zh-Hant-HK", "yue"]


def test_samples_and_seconds_agree() -> None:
    assert (samples_in(1.5), seconds(24_000)) == (24_000, 1.5)
    chunk = AudioChunk(stream_start=2.0, samples=np.zeros(8_000, np.float32), received_at=0.0)
    assert chunk.stream_end == 2.5
