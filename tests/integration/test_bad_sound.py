"""Broken and unusual sound with the real voice activity model: it is heard, or refused with what to do instead."""

import asyncio
import json
from collections.abc import Iterable
from contextlib import asynccontextmanager, suppress

import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from app.admission import Admission
from app.errors import ServiceError
from app.ingest.audio_socket import take_audio
from app.ingest.pcm import PCMDecoder
from app.rooms import Room
from app.wire import AudioStart
from engines.asr.types import Recognition, RecognitionRequest
from engines.audio import AudioChunk, Samples, seconds
from engines.batching.batcher import Batcher
from engines.batching.policy import BatchingSettings
from engines.engine import Capacity
from engines.languages import LanguageTag
from engines.testing.recorded import Measured, RecordedEngine, Recording
from engines.vad.silero import SileroVAD
from pipelines.speech.endpointing import Closed, Endpointing, EndpointingSettings
from pipelines.speech.offset import Offset
from pipelines.speech.pipeline import SpeechParts, SpeechPath
from pipelines.speech.settings import SpeechSettings
from pipelines.speech.voice import Voice
from pipelines.speech.windows import Windows
from pipelines.types import RoomSettings, SourceText
from tests.support.material import pcm, spoken
from tests.support.virtual_time import run_virtual
from tests.unit.pipelines.speech.test_pipeline import held_bytes

pytestmark = pytest.mark.integration

ENGLISH = LanguageTag("en")
VAD = SileroVAD()
WHISPER = Recording(
    name="whisper",
    version="base@1",
    capacity=Capacity(max_batch=4, concurrency=1),
    measured=(Measured(seconds=0.25), Measured(seconds=0.4, rows=4)),
)
LINE = "Good evening, everybody. The price today is twenty dollars."


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    """About four seconds of speech."""
    return spoken(LINE, tmp_path_factory.mktemp("speech"))


def silence(duration_s: float) -> Samples:
    return np.zeros(round(duration_s * 16_000), np.float32)


def found(chunks: Iterable[AudioChunk]) -> list[Closed]:
    """The utterances in chunks that are taken as fast as it goes."""
    windows, offset, voice, endpointing = Windows(), Offset(), Voice(VAD), Endpointing(EndpointingSettings())
    events = []
    for chunk in chunks:
        if (stretch := windows.push(chunk)) is not None:
            stretch = offset.removed(stretch)
            events += endpointing.push(stretch, voice.probabilities(stretch))
    return [event for event in [*events, *endpointing.flush()] if isinstance(event, Closed)]


def chunks_of(samples: Samples, size: int = 1600) -> Iterable[AudioChunk]:
    for at in range(0, len(samples), size):
        yield AudioChunk(stream_start=seconds(at), samples=samples[at : at + size], received_at=seconds(at))


def assert_as_clear_as(speech: Samples, heard: list[Closed], *, loss: float = 0.1) -> None:
    """The same speech in the same place, by far the most of it: without `loss` of it at most, at its start perhaps."""
    clear = found(chunks_of(speech))
    voiced_s = sum(closed.sound.voiced_s for closed in clear)
    late_s = heard[0].sound.stream_start - clear[0].sound.stream_start
    assert -0.3 <= late_s <= max(0.3, loss * voiced_s)
    assert heard[-1].sound.stream_end == pytest.approx(clear[-1].sound.stream_end, abs=0.3)
    assert sum(closed.sound.voiced_s for closed in heard) > (1 - loss) * voiced_s


@pytest.mark.parametrize("gain", [1.0, 0.1, 0.02])
@pytest.mark.parametrize("offset", [0.3, -0.3])
def test_speech_with_an_offset_is_found_and_is_as_loud_as_without(speech: Samples, offset: float, gain: float) -> None:
    around = np.concatenate((silence(1.0), speech * np.float32(gain), silence(1.0)))
    heard = found(chunks_of(around + np.float32(offset)))
    assert_as_clear_as(around, heard)
    assert heard[0].sound.level_db == pytest.approx(found(chunks_of(around))[0].sound.level_db, abs=1.5)


def test_an_offset_alone_is_silence() -> None:
    switched = np.concatenate((silence(2.0), silence(2.0) + np.float32(0.3), silence(2.0) - np.float32(0.5)))
    assert found(chunks_of(switched)) == []


@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_speech_amplified_into_clipping_is_found(speech: Samples, offset: float) -> None:
    around = np.concatenate((silence(1.0), speech, silence(1.0)))
    clipped = (around * 8 + offset).clip(-1.0, 1.0).astype(np.float32)
    assert np.mean(np.abs(clipped) == 1.0) > 0.05
    assert_as_clear_as(around, found(chunks_of(clipped)), loss=0.2)


def at_rate(samples: Samples, rate_hz: int) -> Samples:
    at = np.arange(len(samples) * rate_hz // 16_000) * (16_000 / rate_hz)
    return np.interp(at, np.arange(len(samples)), samples).astype(np.float32)


@pytest.mark.parametrize(
    ("rate_hz", "channels", "sample_format", "size"),
    [
        (8_000, 1, "s16le", 320),
        (44_100, 2, "s16le", 1_763),  # cuts frames
        (48_000, 2, "f32le", 7_680),
        (96_000, 1, "s16le", 99_999),
    ],
)
def test_speech_of_any_rate_and_format_is_found(
    speech: Samples, rate_hz: int, channels: int, sample_format: str, size: int
) -> None:
    around = np.concatenate((silence(1.0), speech, silence(1.0)))
    sent = np.repeat(at_rate(around, rate_hz), channels)
    data = pcm(sent) if sample_format == "s16le" else sent.astype("<f4").tobytes()
    assert_as_clear_as(around, found(decoded(data, size, rate_hz, channels, sample_format)))


@pytest.mark.parametrize("gain", [1.0, 0.03])
def test_speech_in_the_centre_of_surround_sound_is_found_beneath_rumble(speech: Samples, gain: float) -> None:
    around = np.concatenate((silence(1.0), speech, silence(1.0)))
    six = np.zeros((len(around), 6), np.float32)
    six[:, 2] = gain * around
    six[:, 3] = 0.7 * np.sin(np.arange(len(around)) * (2 * np.pi * 45 / 16_000))
    heard = found(decoded(six.astype("<f4").tobytes(), 9_600, 16_000, 6, "f32le"))
    assert_as_clear_as(around, heard)


def decoded(data: bytes, size: int, rate_hz: int, channels: int, sample_format: str) -> Iterable[AudioChunk]:
    decoder = PCMDecoder(AudioStart(sample_rate_hz=rate_hz, channels=channels, format=sample_format))
    fed = [decoder.feed(data[at : at + size], 0.0) for at in range(0, len(data), size)]
    return [chunk for chunk in (*fed, decoder.end(0.0)) if chunk is not None]


def test_a_time_in_milliseconds_is_refused_with_what_to_send() -> None:
    with pytest.raises(ServiceError, match="stream_start") as refused:
        PCMDecoder(AudioStart(sample_rate_hz=16_000, stream_start=1.7e12))
    assert (refused.value.code, "seconds" in refused.value.hint) == ("bad_audio", True)


def test_an_hour_of_silence_holds_no_more_than_a_minute_of_it() -> None:
    parts = (Windows(), Offset(), Voice(VAD), Endpointing(EndpointingSettings()))
    windows, offset, voice, endpointing = parts
    hiss = np.random.default_rng(1).normal(0, 1e-4, 160_000).astype(np.float32)
    sizes = []
    for n in range(360):
        samples = silence(10.0) if n % 12 < 6 else hiss
        stretch = windows.push(AudioChunk(stream_start=n * 10.0, samples=samples, received_at=0.0))
        assert stretch is not None
        assert endpointing.push(offset.removed(stretch), voice.probabilities(stretch)) == []
        sizes.append(sum(held_bytes(part, {id(VAD)}) for part in parts))
    assert max(sizes[12:]) <= max(sizes[:12]) * 1.05
    assert max(sizes) < 100_000


def path_and_pieces(batcher: Batcher[RecognitionRequest, Recognition]) -> tuple[SpeechPath, list[SourceText]]:
    pieces: list[SourceText] = []
    parts = SpeechParts(
        voice=VAD,
        recognise=batcher,
        settings=SpeechSettings(),
        to_script=lambda text, language: text,
        count=lambda cause: None,
    )
    return SpeechPath(RoomSettings(room="r", sources=(ENGLISH,)), parts, pieces.append), pieces


def recorded() -> Batcher[RecognitionRequest, Recognition]:
    """A recogniser that takes its time and hears two words a second."""

    def answer(row: RecognitionRequest) -> Recognition:
        return Recognition(
            text=" ".join((LINE.split() * 9)[: int(2 * seconds(len(row.samples)))]),
            language=ENGLISH,
            language_probability=0.9,
            no_speech_probability=0.0,
            mean_log_probability=-0.2,
        )

    return Batcher(RecordedEngine(WHISPER, answer), BatchingSettings())


def assert_each_ends_once(pieces: list[SourceText]) -> list[SourceText]:
    finals = [piece for piece in pieces if piece.final]
    assert len({piece.id for piece in finals}) == len(finals)
    assert {piece.id for piece in pieces} == {piece.id for piece in finals}
    assert all(piece.stream_start < piece.stream_end for piece in finals)
    return finals


@pytest.mark.parametrize("pause_s", [10.0, 300.0])
def test_speak_15_s_pause_speak(speech: Samples, pause_s: float) -> None:
    talk = np.resize(speech, 15 * 16_000)
    sound = np.concatenate((talk, silence(pause_s), talk, silence(1.0)))

    async def play() -> list[SourceText]:
        async with recorded() as batcher, asyncio.TaskGroup() as tasks:
            path, pieces = path_and_pieces(batcher)
            running = tasks.create_task(path.run())
            for chunk in chunks_of(sound, 3200):
                await asyncio.sleep(seconds(len(chunk.samples)))
                path.push(chunk)
            await path.finish()
            running.cancel()
        return pieces

    finals = assert_each_ends_once(run_virtual(play()))
    places = [(piece.stream_start, piece.stream_end) for piece in finals]
    assert places == sorted(places)
    assert all(end <= 15.3 or start >= 14.7 + pause_s for start, end in places)
    assert {end <= 15.3 for _, end in places} == {True, False}


@asynccontextmanager
async def room():
    """A room's audio socket over the real path, how to reach it, the pieces and what was refused."""
    refused: list[ServiceError] = []
    async with recorded() as batcher, asyncio.TaskGroup() as tasks:
        path, pieces = path_and_pieces(batcher)
        path.push_audio = path.push  # type: ignore[attr-defined]
        admission = Admission(lambda: 0.0, concurrency=1, interval_s=0.5, most=1)
        opened = Room(RoomSettings(room="r"), path, admission, lambda state: None)  # type: ignore[arg-type]

        async def take(connection: ServerConnection) -> None:
            try:
                await take_audio(connection, opened)
            except ServiceError as error:
                refused.append(error)
            except ConnectionClosed:
                pass

        running = tasks.create_task(path.run())
        async with serve(take, "127.0.0.1", 0, compression=None) as server:
            port = server.sockets[0].getsockname()[1]
            yield f"ws://127.0.0.1:{port}", pieces, refused
        await path.finish()
        running.cancel()


async def started(connection: ClientConnection, **fields: object) -> None:
    await connection.send(json.dumps({"type": "audio.start", "sample_rate_hz": 16_000, **fields}))
    assert json.loads(await connection.recv())["type"] == "audio.ready"


async def test_a_format_can_not_change_in_the_middle_and_the_next_connection_is_heard_anew(speech: Samples) -> None:
    part = speech[: 2 * 16_000]
    async with room() as (url, pieces, refused):
        async with connect(url, proxy=None) as first:
            await started(first)
            await first.send(pcm(part))
            await first.send('{"type": "audio.start", "sample_rate_hz": 48000}')
            with suppress(ConnectionClosed):
                await first.recv()
        (error,) = refused
        assert error.code == "bad_frame"
        assert "connect again" in error.hint
        async with connect(url, proxy=None) as second:  # goes on at once, where the first one stopped
            await started(second, sample_rate_hz=48_000, stream_start=2.0)
            await second.send(b"")
            await second.send(pcm(at_rate(part, 48_000)) + b"\0")
            await second.send('{"type": "audio.end"}')
            ended = json.loads(await second.recv())
        assert ended["seconds"] == pytest.approx(2.0, abs=0.01)
    finals = assert_each_ends_once(pieces)
    first_end = max(piece.stream_end for piece in finals if piece.id.startswith("s1."))
    assert first_end == pytest.approx(2.0, abs=0.1)
    assert min(piece.stream_start for piece in finals if not piece.id.startswith("s1.")) >= 2.0
    assert len(finals) >= 2
