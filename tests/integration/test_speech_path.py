"""The speech path with the real models on real clips: speech in real time, noise twelve times as fast."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import numpy as np
import pytest

from engines.asr.types import Recognition, RecognitionRequest
from engines.asr.whisper import WhisperEngine, WhisperSettings
from engines.audio import AudioChunk, Samples, samples_in, seconds
from engines.batching.batcher import Batcher
from engines.batching.policy import BatchingSettings
from engines.cores import Cores
from engines.languages import LanguageTag
from engines.lid.scripts import script_shares
from engines.vad.silero import SileroVAD
from pipelines.speech.pipeline import SpeechParts, SpeechPath
from pipelines.speech.settings import SpeechSettings
from pipelines.translate.chinese import to_script
from pipelines.types import RoomSettings, SourceText
from tests.support.material import clip, installed_model

pytestmark = [pytest.mark.integration, pytest.mark.recordings]

CHUNK_S = 0.05
ZH, VI = LanguageTag("zh-Hans"), LanguageTag("vi")


class Play:
    """One room that hears one clip, and what came of it."""

    def __init__(self, batcher: Batcher[RecognitionRequest, Recognition], *sources: LanguageTag) -> None:
        self.emitted: list[SourceText] = []
        self.counts: Counter[str] = Counter()
        parts = SpeechParts(
            voice=SileroVAD(),
            recognise=batcher,
            settings=SpeechSettings(),
            to_script=to_script,
            count=lambda cause: self.counts.update([cause]),
        )
        self._path = SpeechPath(RoomSettings(room="clip", sources=sources), parts, self.emitted.append)

    @property
    def text(self) -> str:
        return " ".join(source.text for source in self.emitted if source.final).strip()

    async def hear(self, samples: Samples, *, pace: float) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        step = samples_in(CHUNK_S)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self._path.run())
            for at in range(0, len(samples), step):
                chunk = samples[at : at + step]
                await asyncio.sleep(max(0.0, began + seconds(at + len(chunk)) / pace - loop.time()))
                self._path.push(AudioChunk(stream_start=seconds(at), samples=chunk, received_at=loop.time()))
            await self._path.finish()
            running.cancel()


@pytest.fixture
async def batcher() -> AsyncIterator[Batcher[RecognitionRequest, Recognition]]:
    engine = WhisperEngine(installed_model("whisper-base-ct2-fp16"), WhisperSettings(), Cores(2))
    await engine.warm()
    async with Batcher(engine, BatchingSettings()) as batcher:
        yield batcher
    await engine.close()


def with_silence(sound: Samples) -> Samples:
    return np.concatenate((sound, np.zeros(samples_in(1.5), np.float32)))


def assert_shown_as_promised(play: Play) -> None:
    """Partials come first, revisions grow, and every piece ends in one final."""
    for piece in {source.id for source in play.emitted}:
        versions = [source for source in play.emitted if source.id == piece]
        assert [version.revision for version in versions] == list(range(len(versions)))
        assert [version.final for version in versions] == [False] * (len(versions) - 1) + [True]
    assert not play.emitted[0].final
    assert not play.counts


async def test_mandarin_becomes_simplified_text_about_jiangsu(
    batcher: Batcher[RecognitionRequest, Recognition],
) -> None:
    play = Play(batcher, ZH)
    await play.hear(with_silence(clip("zh-tv-request.flac")), pace=1.0)
    assert_shown_as_promised(play)
    assert script_shares(play.text)["Han"] > 0.9
    assert to_script(play.text, ZH) == play.text
    assert "我想" in play.text
    assert all(source.language == ZH for source in play.emitted)


async def test_vietnamese_becomes_vietnamese_text(batcher: Batcher[RecognitionRequest, Recognition]) -> None:
    play = Play(batcher, VI)
    await play.hear(with_silence(clip("vi-history.flac")), pace=1.0)
    assert_shown_as_promised(play)
    assert script_shares(play.text)["Latin"] > 0.9
    assert "thế kỷ" in play.text.lower() or "quốc" in play.text.lower()
    finals = [source for source in play.emitted if source.final]
    assert finals[-1].stream_end == pytest.approx(6.6, abs=0.7)


async def test_a_room_of_any_language_finds_mandarin(batcher: Batcher[RecognitionRequest, Recognition]) -> None:
    play = Play(batcher)
    await play.hear(with_silence(clip("zh-tv-request.flac")), pace=1.0)
    assert play.emitted[-1].language == ZH
    assert "我想" in play.text


async def test_a_minute_of_noise_gives_no_text(batcher: Batcher[RecognitionRequest, Recognition]) -> None:
    play = Play(batcher)
    await play.hear(with_silence(clip("noise-60s.flac")), pace=12.0)
    assert play.emitted == []
    assert not play.counts["backlog"]
