"""Scores by the field's own tools: jiwer, simulstream, mweralign and sacrebleu. Imported only where they are used."""

import logging
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import msgspec

from loadtest.speech.log import write_log
from loadtest.speech.texts import units

_CHINESE = ("zh-Hans", "zh-Hant", "zh-Hant-HK", "yue")


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the recording, in seconds, and what should be read of it."""

    start: float
    end: float
    text: str


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What stayed on the screen in the end and when each of its words (or characters) came to stay, in seconds."""

    text: str
    delays: tuple[float, ...]
    normalized_erasure: float


class ErrorRate(msgspec.Struct, frozen=True, kw_only=True):
    """Edits to the reference by its length, of characters (CER) or words (WER)."""

    kind: str
    errors: int
    hits: int
    length: int

    @property
    def rate(self) -> float:
        """0 for a perfect text; may be more than 1."""
        return self.errors / max(1, self.length)


def error_rate(reference: str, said: str, language: str) -> ErrorRate:
    """Compared without case, marks and, for Chinese, script: characters where a language has no spaces, else words."""
    import jiwer

    wanted, heard = (plain(text, language) for text in (reference, said))
    if units(language) == "char":
        wanted, heard = (" ".join("".join(text.split())) for text in (wanted, heard))
    found = jiwer.process_words(wanted, heard)
    return ErrorRate(
        kind="CER" if units(language) == "char" else "WER",
        hits=found.hits,
        errors=found.substitutions + found.deletions + found.insertions,
        length=found.hits + found.substitutions + found.deletions,
    )


def plain(text: str, language: str) -> str:
    """A text as it is compared."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if language in _CHINESE:
        import opencc

        text = opencc.OpenCC("t2s").convert(text)
    return " ".join("".join(" " if unicodedata.category(one)[0] in "PSC" else one for one in text).split())


def traditional(text: str) -> int:
    """How many characters of a text are written otherwise in Simplified Chinese."""
    import opencc

    return sum(one != other for one, other in zip(text, opencc.OpenCC("t2s").convert(text), strict=False))


def shown(lines: Iterable[dict[str, Any]], language: str) -> Shown | None:
    """What simulstream reads from a log; None where nothing was shown."""
    reader, stats = _simulstream(), _stats()
    unit = units(language)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "log.jsonl"
        write_log(file, lines)
        config = SimpleNamespace(detokenizer_type="simuleval", latency_unit=unit)
        log = reader.LogReader(config, str(file), latency_unit=unit)
    outputs = list(log.final_outputs_and_latencies().values())
    if not outputs or not outputs[0].final_text:
        return None
    return Shown(
        text=outputs[0].final_text,
        delays=tuple(outputs[0].ideal_delays),
        normalized_erasure=stats.NormalizedErasure().compute(log),
    )


def stream_laal(text: Shown, parts: Sequence[Part], language: str) -> float:
    """StreamLAAL (https://aclanthology.org/2024.acl-long.202) in seconds, computing included."""
    from simulstream.metrics.scorers.latency import LatencyScoringSample
    from simulstream.metrics.scorers.latency.stream_laal import StreamLaal

    reader = _simulstream()
    delays = list(text.delays)
    hypothesis = reader.OutputWithDelays(text.text, delays, delays)
    reference = [reader.ReferenceSentenceDefinition(part.text, part.start, part.end - part.start) for part in parts]
    sample = LatencyScoringSample("clip", hypothesis, reference)
    return float(StreamLaal(SimpleNamespace(latency_unit=units(language))).score([sample]).ideal_latency)


def chrf(said: Sequence[str], references: Sequence[str]) -> float:
    """chrF of the texts as one corpus."""
    import sacrebleu

    return float(sacrebleu.corpus_chrf(list(said), [list(references)]).score)


def align(found: Sequence[str], parts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cut a text (as tokens) into as many pieces as the references, where they match best; in order, none left out."""
    from mweralign import mweralign

    aligned = mweralign.align_texts("\n".join(" ".join(part) for part in parts), " ".join(found))
    return [line.split() for line in aligned.split("\n")]


def _simulstream() -> Any:
    from simulstream.metrics import readers

    return readers


def _stats() -> Any:
    from simulstream.metrics import stats

    logging.getLogger().setLevel(logging.WARNING)  # the import above turns everybody's notes on
    return stats
