"""One room and language: numbers its frames, encodes each once and keeps the newest of each cue for a resume."""

import secrets
from collections import OrderedDict
from collections.abc import Sequence

from app.clock import Clock
from app.delivery.frames import Frame, Position, Replay, packet
from app.delivery.viewer import Viewer
from app.wire import CueFrame, Gap, LedgerTimes, Retract
from pipelines.ledger import STAGES
from pipelines.types import Cue, Ledger

HELD_CUES = 512
HELD_S = 120.0
FRESH_CUES = 8


class Channel:
    """Holds at most 512 cues of the last 120 s, and of each cue only its newest revision."""

    def __init__(self, clock: Clock) -> None:
        self.epoch = secrets.token_hex(4)
        self.seq = 0
        self.viewers: set[Viewer] = set()
        self._clock = clock
        self._held: OrderedDict[str, Frame] = OrderedDict()  # by cue, in the order of seq
        self._lost = 0  # the newest frame that fell out
        self._handed_on = 0

    def __len__(self) -> int:
        return len(self._held)

    def append(self, cue: Cue, now: float) -> Frame | None:
        """Number, encode and keep a cue; None where a newer revision of it is held already."""
        held = self._held.get(cue.id)
        if held is not None and held.revision >= cue.revision:
            return None
        self.seq += 1
        retracted = cue.final and not cue.text and not cue.source_text
        frame = Frame(
            seq=self.seq,
            cue_id=cue.id,
            revision=cue.revision,
            final=cue.final,
            at=now,
            packet=packet(Retract(seq=self.seq, id=cue.id) if retracted else _cue_frame(cue, self.seq, self._clock)),
            retracted=retracted,
        )
        self._held[cue.id] = frame
        self._held.move_to_end(cue.id)
        self._forget(now)
        return frame

    def since(self, position: Position | None, now: float) -> Replay:
        """What somebody at `position` has missed, each cue once; without a position the last eight cues."""
        self._forget(now)
        if position is None:
            shown = (frame for frame in reversed(self._held.values()) if not frame.retracted)
            newest = [frame for frame, _ in zip(shown, range(FRESH_CUES), strict=False)]
            return Replay(frames=tuple(reversed(newest)))
        if position.epoch == self.epoch and self._lost <= position.seq <= self.seq:
            return Replay(frames=tuple(self._after(position.seq)))
        frames = tuple(self._held.values())
        return Replay(frames=frames, gap=Gap(epoch=self.epoch, next_seq=frames[0].seq if frames else self.seq + 1))

    def fresh(self) -> Sequence[Frame]:
        """What was appended since the last call, for the fan-out; of each cue only the newest revision."""
        frames = self._after(self._handed_on)
        self._handed_on = self.seq
        return frames

    def _after(self, seq: int) -> list[Frame]:
        newer = []
        for frame in reversed(self._held.values()):
            if frame.seq <= seq:
                break
            newer.append(frame)
        newer.reverse()
        return newer

    def _forget(self, now: float) -> None:
        while self._held:
            oldest = next(iter(self._held.values()))
            if len(self._held) <= HELD_CUES and now - oldest.at <= HELD_S:
                return
            del self._held[oldest.cue_id]
            self._lost = oldest.seq


def _cue_frame(cue: Cue, seq: int, clock: Clock) -> CueFrame:
    return CueFrame(
        seq=seq,
        id=cue.id,
        revision=cue.revision,
        final=cue.final,
        kind=cue.kind.value,
        lang=cue.language,
        source_lang=cue.source_language,
        text=cue.text,
        source_text=cue.source_text,
        ledger=_times(cue.ledger, clock),
        author=cue.author,
        start=cue.stream_start,
        end=cue.stream_end,
        flags=cue.flags,
        reason=cue.reason,
        count=cue.count,
        route=cue.ledger.route,
    )


def _times(ledger: Ledger, clock: Clock) -> LedgerTimes:
    stamped = {stage: getattr(ledger, stage) for stage in ("captured", *STAGES)}
    return LedgerTimes(**{stage: clock.epoch_ms(at) for stage, at in stamped.items() if at is not None})
