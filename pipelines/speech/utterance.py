"""The text of one utterance: recognitions in, numbered pieces with revisions out. Sync."""

from collections.abc import Callable

import msgspec

from engines.asr.types import Word
from engines.languages import LanguageTag
from pipelines.speech.endpointing import UtteranceSound
from pipelines.speech.letters import letters
from pipelines.speech.segmenter import Segmenter, SegmenterSettings
from pipelines.speech.stabiliser import Stabiliser
from pipelines.types import CueKind, Hypothesis, Ledger, SourceText


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """A recognition that passed the gates, in the room's script. Times in seconds of the loop's clock."""

    text: str
    language: LanguageTag
    sound: UtteranceSound
    recognised_at: float
    words: tuple[Word, ...] = ()


class Utterance:
    """Turns what is heard of one utterance into pieces. Piece n has the id "s{utterance}.{n}"."""

    def __init__(self, number: int, emit: Callable[[SourceText], None], settings: SegmenterSettings) -> None:
        self.number = number
        self._emit = emit
        self._stabiliser = Stabiliser(number)
        self._segmenter = Segmenter(settings)
        self._last: Heard | None = None
        self._piece = 0
        self._revision = 0
        self._shown = ""  # the open piece as it was emitted last
        self._steady = 0
        self._start: float | None = None  # where the open piece starts, in stream time
        self._ended = False

    def hear(self, heard: Heard, *, decided: bool = True, may_be_cut: bool = False, may_be_whole: bool = False) -> None:
        """Take a newer recognition of unfinished speech; one of less sound than the last is ignored.

        Nothing becomes stable before its language is decided, nor where its end `may_be_cut` off: the next utterance
        says that again. `may_be_whole`: the speech may have ended.
        """
        if self._ended or (self._last and heard.sound.duration_s < self._last.sound.duration_s):
            return
        self._last = heard
        if not decided:
            self._stabiliser = Stabiliser(self.number)
        if may_be_cut:
            self._stabiliser.freeze()
        self._show(heard, self._push(heard, final=False), endpointed_at=None, may_be_whole=may_be_whole)

    def end(self, heard: Heard | None, endpointed_at: float) -> None:
        """Take the final recognition, or None to let what was heard last be the final text."""
        heard = heard or self._last
        if heard is not None and not self._ended:
            self._show(heard, self._push(heard, final=True), endpointed_at)
        self._ended = True

    def retract(self, sound: UtteranceSound, endpointed_at: float, recognised_at: float) -> None:
        """End it without more text: the open piece is taken back, pieces given out for good stay."""
        if self._last is not None and not self._ended:
            heard = msgspec.structs.replace(self._last, text="", sound=sound, recognised_at=recognised_at)
            self._take_back(heard, endpointed_at)
        self._ended = True

    def _push(self, heard: Heard, *, final: bool) -> Hypothesis:
        sound = heard.sound
        return self._stabiliser.push(heard.text, heard.language, sound.stream_start, sound.stream_end, final=final)

    def _show(
        self, heard: Heard, hypothesis: Hypothesis, endpointed_at: float | None, *, may_be_whole: bool = False
    ) -> None:
        text = hypothesis.text if may_be_whole else hypothesis.text[: hypothesis.agreed_length]
        pieces = self._segmenter.push(text, hypothesis.stable_length, final=hypothesis.final)
        remaining = [len(letters(piece)) for piece in (*pieces.closed, pieces.open)]
        for n, piece in enumerate(pieces.closed):
            self._put(heard, piece, self._end_of_first(heard, remaining[n:]), endpointed_at)
            self._next_piece()
        steady = len(pieces.open) if may_be_whole else pieces.stable
        if pieces.open and (pieces.open, steady) != (self._shown, self._steady):
            self._steady = steady
            self._put(heard, pieces.open, None, endpointed_at)
        if hypothesis.final:
            self._take_back(heard, endpointed_at)

    def _end_of_first(self, heard: Heard, pieces: list[int]) -> float:
        """Where the first of the pieces that are left ends, given the letters of each.

        It is the end of the word that the letters of the others follow; where no word times are known, the pieces
        share the rest of the sound by their letters.
        """
        sound, after = heard.sound, sum(pieces[1:])
        start = sound.stream_start if self._start is None else self._start
        followed_by = 0
        for word in reversed(heard.words if after else ()):
            if followed_by >= after:
                return min(max(start, sound.stream_start + word.end), sound.stream_end)
            followed_by += len(letters(word.text))
        return start + (sound.stream_end - start) * pieces[0] / max(sum(pieces), 1)

    def _take_back(self, heard: Heard, endpointed_at: float | None) -> None:
        if self._shown:
            self._put(heard, "", heard.sound.stream_end, endpointed_at)
            self._next_piece()

    def _next_piece(self) -> None:
        self._piece += 1
        self._revision = 0
        self._shown = ""
        self._steady = 0

    def _put(self, heard: Heard, text: str, stream_end: float | None, endpointed_at: float | None) -> None:
        """Emit the open piece; with a `stream_end` for good."""
        start = heard.sound.stream_start if self._start is None else self._start
        source = SourceText(
            id=f"s{self.number}.{self._piece}",
            revision=self._revision,
            final=stream_end is not None,
            kind=CueKind.SPEECH,
            text=text,
            language=heard.language,
            ledger=Ledger(
                captured=heard.sound.received_at,
                received=heard.sound.received_at,
                endpointed=endpointed_at,
                recognised=heard.recognised_at,
            ),
            stream_start=start,
            stream_end=heard.sound.stream_end if stream_end is None else stream_end,
            steady=self._steady if stream_end is None else len(text),
        )
        self._revision += 1
        self._shown = text
        if stream_end is not None:
            self._start = stream_end
        self._emit(source)
