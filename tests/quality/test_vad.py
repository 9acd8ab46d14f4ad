"""Voice activity on real sound: speech has it, noise, music and sounds don't."""

import numpy as np
import pytest
from faster_whisper import decode_audio

from engines.vad.silero import SileroVAD
from engines.vad.types import WINDOW_SAMPLES, VADRow
from tests.support.material import recordings

pytestmark = pytest.mark.quality

THRESHOLD = 0.5
NO_SPEECH = ("music-", "noise-", "office-", "sounds-")
SUNG = ("song-",)


def test_a_threshold_of_a_half_tells_speech_from_other_sound() -> None:
    vad, unlike = SileroVAD(), []
    print(f"\n{'clip':28} {'windows over 0.5':>16} {'longest run':>12}")
    for file in sorted(recordings("speech").glob("*.flac")):
        samples = decode_audio(str(file))
        windows = len(samples) // WINDOW_SAMPLES
        ((probabilities, _),) = vad.speech([VADRow(samples[: windows * WINDOW_SAMPLES], vad.initial_state())])
        over = probabilities > THRESHOLD
        share = float(over.mean())
        print(f"{file.stem:28} {share:16.1%} {longest_run(over) * 32:9} ms")
        silent = file.stem.startswith(NO_SPEECH)
        if not file.stem.startswith(SUNG) and (share > 0.02 if silent else share < 0.25):
            unlike.append(file.stem)
    assert not unlike


def longest_run(over: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    longest = run = 0
    for one in over:
        run = run + 1 if one else 0
        longest = max(longest, run)
    return longest
