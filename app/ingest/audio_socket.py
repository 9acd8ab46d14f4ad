"""The broadcaster's audio socket: AudioStart, binary PCM, AudioEnd."""

import asyncio

import msgspec
from websockets.asyncio.server import ServerConnection

from app.errors import ServiceError
from app.ingest.pcm import PCMDecoder
from app.rooms import Room
from app.wire import AudioEnd, AudioEnded, AudioReady, AudioStart, ClientFrame, decode_client, encode
from engines.audio import seconds

AUDIO_BYTES = 1024 * 1024  # of one frame
PIECE_S = 0.25  # longer frames are handed on in pieces of this length
AHEAD_S = 1.0  # a sender may be so far ahead of real time before it is slowed down
CATCH_UP = 8.0  # times real time: what arrives at once after a stall is handed on no faster
SILENT_S = 30.0  # a sender that sends nothing for so long has gone


async def take_audio(connection: ServerConnection, room: Room) -> None:
    """Serve one broadcaster until it ends or goes. Raises ServiceError, also where the room has one already."""
    async with room.publishing():
        await _take(connection, room)


async def _take(connection: ServerConnection, room: Room) -> None:
    loop = asyncio.get_running_loop()
    decoder = PCMDecoder(await _start(connection))
    await connection.send(encode(AudioReady(room=room.name)))
    began = loop.time()
    step = decoder.size_of(PIECE_S)
    while isinstance(message := await _receive(connection), bytes):
        for at in range(0, len(message), step):
            chunk = decoder.feed(message[at : at + step], loop.time())
            if chunk is not None:
                room.push_audio(chunk)
                ahead_s = decoder.taken_s - (loop.time() - began)
                await asyncio.sleep(max(seconds(len(chunk.samples)) / CATCH_UP, ahead_s - AHEAD_S))
    frame = _frame(message)
    if isinstance(frame, AudioStart):
        raise ServiceError(
            "bad_frame",
            "audio.start on a connection that has started",
            hint="to change the format send audio.end, connect again and announce the new one",
        )
    if not isinstance(frame, AudioEnd):
        raise ServiceError("bad_frame", "a frame that is not audio", hint="send binary PCM, then audio.end")
    rest = decoder.end(loop.time())
    if rest is not None:
        room.push_audio(rest)
    await room.finish_audio()
    await connection.send(encode(AudioEnded(seconds=round(decoder.taken_s, 3))))


async def _start(connection: ServerConnection) -> AudioStart:
    first = await _receive(connection)
    frame = _frame(first) if isinstance(first, str) else None
    if not isinstance(frame, AudioStart):
        raise ServiceError("bad_frame", "the first frame was not audio.start", hint="announce the audio first")
    return frame


async def _receive(connection: ServerConnection) -> str | bytes:
    try:
        async with asyncio.timeout(SILENT_S):
            return await connection.recv()
    except TimeoutError as error:
        raise ServiceError(
            "slow_reader", f"nothing was received for {SILENT_S:.0f} s", hint="connect again when there is sound"
        ) from error


def _frame(text: str) -> ClientFrame:
    try:
        return decode_client(text)
    except msgspec.MsgspecError as error:
        raise ServiceError("bad_frame", str(error), hint="see docs/protocol.md") from error
