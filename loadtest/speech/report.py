"""What the playings showed: a row a recording and the whole, as numbers that mean the same in every run."""

from collections.abc import Iterable, Sequence

import msgspec

from loadtest.frames import Cue
from loadtest.percentiles import percentile
from loadtest.speech.log import log_lines
from loadtest.speech.pages import PagesReport, score_pages
from loadtest.speech.play import Played
from loadtest.speech.scores import ErrorRate, Part, Shown, error_rate, shown, stream_laal, traditional
from loadtest.speech.texts import Moment, Texts, grow


class ClipReport(msgspec.Struct, frozen=True, kw_only=True):
    """One recording. Waits in seconds: first ones from the speech's start, last ones from its end; None: it never came.

    `final_source_s`: when the original stood as it stayed; `final_translation_s`: when the last subtitle was declared
    finished. `ne_…`: normalized erasure of all that was shown. `stream_laal_s` against the parts of the reading where
    a translation of them is known, else against the final text itself, whose length is all that counts.
    """

    clip: str
    language: str | None
    lang: str
    seconds: float
    cues: int
    revisions: int
    untranslated: int
    first_partial_s: float | None
    first_translation_s: float | None
    final_source_s: float | None
    final_translation_s: float | None
    ne_source: float | None
    ne_translation: float | None
    stream_laal_s: float | None
    error: ErrorRate | None
    traditional: int
    cpu_per_s: float | None
    pages: PagesReport | None
    source: str
    translation: str


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Of so many values: nearest-rank percentiles and the largest."""

    count: int
    p50: float | None
    p95: float | None
    largest: float | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """All recordings in which somebody speaks and what is said is known, and what must not happen in any.

    `unheard` lists those without a finished subtitle, `cues_from_no_speech` those without speech that had any,
    `traditional` counts Traditional characters where Simplified ones are spoken or read.
    """

    clips: int
    first_partial_s: Spread
    first_translation_s: Spread
    final_source_s: Spread
    final_translation_s: Spread
    ne_source: float | None
    ne_translation: float | None
    stream_laal_s: dict[str, float]
    error_rates: dict[str, float]
    untranslated: int
    unheard: tuple[str, ...]
    cues_from_no_speech: tuple[str, ...]
    traditional: int
    cpu_per_s: float | None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What `--json` prints."""

    lanes: int
    clips: tuple[ClipReport, ...]
    summary: Summary


def report_of(played: Played) -> ClipReport:
    """Score one playing."""
    clip, lang = played.clip, played.lang
    spoken = clip.language or _spoken(played)
    texts = grow(played.seen, spoken, lang)
    source = shown(log_lines(clip.name, texts.source, spoken), spoken)
    target = shown(log_lines(clip.name, texts.target, lang), lang)
    pages = score_pages(clip.pages, source, spoken, target, lang) if clip.pages and source else None
    known = clip.reference and clip.language
    return ClipReport(
        clip=clip.name,
        language=clip.language,
        lang=lang,
        seconds=round(clip.seconds, 2),
        cues=len({one.frame.id for one in played.seen}),
        revisions=texts.revisions,
        untranslated=texts.untranslated,
        first_partial_s=_after(_first(texts.source), clip.speech_start),
        first_translation_s=_after(_first(texts.target), clip.speech_start),
        final_source_s=_after(texts.source[-1].at if texts.source else None, clip.speech_end),
        final_translation_s=_after(texts.finished, clip.speech_end),
        ne_source=_rounded(source.normalized_erasure if source else None),
        ne_translation=_rounded(target.normalized_erasure if target else None),
        stream_laal_s=_rounded(_lag(played, target) if target else None),
        error=error_rate(clip.reference or "", source.text if source else "", spoken) if known else None,
        traditional=_traditional(texts, spoken, lang),
        cpu_per_s=_rounded(None if played.cpu_s is None else played.cpu_s / played.seconds),
        pages=pages,
        source=source.text if source else "",
        translation=target.text if target else "",
    )


def summarise(reports: Sequence[ClipReport], silent: Iterable[str]) -> Summary:
    """The whole; `silent` names the recordings without speech."""
    quiet = set(silent)
    judged = [one for one in reports if one.error is not None]
    cpu = [(one.cpu_per_s, one.seconds) for one in reports if one.cpu_per_s is not None]
    return Summary(
        clips=len(judged),
        first_partial_s=_spread(one.first_partial_s for one in judged),
        first_translation_s=_spread(one.first_translation_s for one in judged),
        final_source_s=_spread(one.final_source_s for one in judged),
        final_translation_s=_spread(one.final_translation_s for one in judged),
        ne_source=_mean(one.ne_source for one in judged),
        ne_translation=_mean(one.ne_translation for one in judged),
        stream_laal_s=_by_pair(judged),
        error_rates=_error_rates(judged),
        untranslated=sum(one.untranslated for one in reports),
        unheard=tuple(one.clip for one in judged if one.final_translation_s is None),
        cues_from_no_speech=tuple(one.clip for one in reports if one.clip in quiet and one.cues),
        traditional=sum(one.traditional for one in reports),
        cpu_per_s=round(sum(each * s for each, s in cpu) / sum(s for _, s in cpu), 3) if cpu else None,
    )


def _spread(values: Iterable[float | None]) -> Spread:
    known = [value for value in values if value is not None]
    if not known:
        return Spread(count=0, p50=None, p95=None, largest=None)
    return Spread(count=len(known), p50=percentile(known, 0.5), p95=percentile(known, 0.95), largest=max(known))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 3) if known else None


def _by_pair(reports: Iterable[ClipReport]) -> dict[str, float]:
    pairs: dict[str, list[float]] = {}
    for one in reports:
        if one.stream_laal_s is not None:
            pairs.setdefault(f"{one.language}>{one.lang}", []).append(one.stream_laal_s)
    return {pair: round(sum(values) / len(values), 2) for pair, values in sorted(pairs.items())}


def _error_rates(reports: Iterable[ClipReport]) -> dict[str, float]:
    errors: dict[str, list[ErrorRate]] = {}
    for one in reports:
        if one.error is not None:
            errors.setdefault(f"{one.language} {one.error.kind}", []).append(one.error)
    return {
        name: round(sum(one.errors for one in found) / max(1, sum(one.length for one in found)), 4)
        for name, found in sorted(errors.items())
    }


def _lag(played: Played, target: Shown) -> float:
    clip = played.clip
    parts = [Part(start=page.start, end=page.end, text=page.translations.get(played.lang, "")) for page in clip.pages]
    if not parts or not all(part.text for part in parts):
        parts = [Part(start=clip.speech_start, end=clip.speech_end, text=target.text)]
    return stream_laal(target, parts, played.lang)


def _spoken(played: Played) -> str:
    """The language of most of what was heard, where the recording doesn't say."""
    found = [one.frame.source_lang for one in played.seen if isinstance(one.frame, Cue)]
    return max(set(found), key=found.count) if found else "en"


def _traditional(texts: Texts, spoken: str, lang: str) -> int:
    shown_texts = [texts.source] * (spoken == "zh-Hans") + [texts.target] * (lang == "zh-Hans")
    return sum(traditional(moment.text) for moments in shown_texts for moment in moments)


def _first(moments: Sequence[Moment]) -> float | None:
    return next((moment.at for moment in moments if moment.text), None)


def _after(at: float | None, since: float) -> float | None:
    return None if at is None else round(at - since, 3)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
