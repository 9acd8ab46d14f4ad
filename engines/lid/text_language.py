"""Language of a short text: script rules first, then a classifier for Latin letters, weighed with a prior."""

import re
from collections.abc import Mapping
from functools import partial
from math import exp, log

import msgspec
from lingua import IsoCode639_1, LanguageDetectorBuilder

from engines.languages import LANGUAGES, LanguageTag
from engines.lid.han import han_scores
from engines.lid.scripts import OTHER, count_scripts, has_vietnamese_letter
from engines.lid.words import is_own_word, tells_nothing

_EN = LanguageTag("en")
_VI = LanguageTag("vi")
_JA = LanguageTag("ja")
_LATIN = {"en": _EN, "vi": _VI, "id": LanguageTag("id"), "ms": LanguageTag("ms"), "tl": LanguageTag("fil")}
_BY_SCRIPT = {
    "Thai": LanguageTag("th"),
    "Lao": LanguageTag("lo"),
    "Khmer": LanguageTag("km"),
    "Myanmar": LanguageTag("my"),
    "Hangul": LanguageTag("ko"),
}

_SAMPLE = 300  # characters looked at: enough to tell, and bounds the time
_NOT_WORDS = re.compile(
    r"https?://\S+|www\.\S+|[@#](?:\S{1,30}(?=\s)|[A-Za-z0-9_.]+)|\[[^\[\]\s]{1,20}\]|:[a-z0-9_+-]{2,30}:", re.I
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_KANA_IN_CHINESE = re.compile("[のノツシヽヾー]")  # の for 的, and pieces of faces
_FOREIGN = re.compile("[çßøåæœłśšžčřěğşıőűäöñãõ¿¡]")  # letters of Latin languages that the service does not have

_LETTERS_PER_SIGN = 3  # a Latin word beside other scripts is a name or a loan: one sign weighs as many letters
_SHARPEN = 1.6  # on few letters the classifier is right more often than it says
_BASE = {LanguageTag("id"): log(1.3)}  # where a line would do for both, more people write Indonesian than Malay
_WORD_EVIDENCE = 2.0  # log odds of one word from a language's own list
_LEAST_PRIOR = 0.1  # any language may turn up in any room
_SURE = 0.99
_UNSURE = 0.0


class Detected(msgspec.Struct, frozen=True):
    """A text's language and how sure that is, 0 to 1; 0 where the text itself tells nothing."""

    language: LanguageTag
    probability: float


class TextLanguages:
    """Finds the language of chat lines. Loads its models once; holds no state of texts; safe to share."""

    def __init__(self) -> None:
        codes = [getattr(IsoCode639_1, code.upper()) for code in _LATIN]
        builder = LanguageDetectorBuilder.from_iso_codes_639_1(*codes)
        self._classifier = builder.with_preloaded_language_models().build()

    def detect(self, text: str, prior: Mapping[LanguageTag, float] | None = None) -> Detected:
        """The likeliest of the service's languages for a text.

        `prior` holds non-negative weights of what is expected here; a language that is not in it may still be found,
        by stronger evidence. Where the text tells nothing ("gg", "666") the heaviest of the prior is given, or English.
        """
        words = _NOT_WORDS.sub(" ", text[:_SAMPLE])
        counts = count_scripts(words)
        weights = {script: n if script == "Latin" else n * _LETTERS_PER_SIGN for script, n in counts.items()}
        chinese_or_japanese = sum(weights.pop(script, 0) for script in ("Han", "Hiragana", "Katakana"))
        weights["Han"] = chinese_or_japanese
        script = max(weights, key=weights.__getitem__)
        if not weights[script]:
            return _expected(prior)
        if script in _BY_SCRIPT:
            return Detected(_BY_SCRIPT[script], _SURE)
        if script == "Han":
            return _chinese_or_japanese(words, prior)
        if script == OTHER:
            return _expected(prior)
        return self._latin(words.lower(), prior)

    def _latin(self, text: str, prior: Mapping[LanguageTag, float] | None) -> Detected:
        words = _WORD.findall(text)
        if 4 * sum(map(has_vietnamese_letter, words)) >= len(words):
            return Detected(_VI, _SURE)
        telling = [word for word in words if not tells_nothing(word)]
        own = {tag: sum(map(is_own, words)) for tag, is_own in _OWN_WORD.items()}
        if not telling and not any(own.values()):
            return _expected(prior)
        if _FOREIGN.search(text) and not any(own.values()):
            return _expected(prior, among=frozenset(_LATIN.values()))
        scores = {tag: _WORD_EVIDENCE * count + _BASE.get(tag, 0.0) for tag, count in own.items()}
        for tag, confidence in self._confidences(" ".join(telling)).items():
            scores[tag] += _SHARPEN * log(max(confidence, 1e-6))
        return _best(scores, prior)

    def _confidences(self, text: str) -> dict[LanguageTag, float]:
        values = self._classifier.compute_language_confidence_values(text)
        return {_LATIN[value.language.iso_code_639_1.name.lower()]: value.value for value in values}


_OWN_WORD = {tag: partial(is_own_word, tag) for tag in _LATIN.values()}


def _chinese_or_japanese(text: str, prior: Mapping[LanguageTag, float] | None) -> Detected:
    counts = count_scripts(text)
    kana = counts["Hiragana"] + counts["Katakana"]
    if kana > len(_KANA_IN_CHINESE.findall(text)) or (kana and not counts["Han"]):
        return Detected(_JA, _SURE)
    return _best(han_scores(text), prior)


def _best(scores: Mapping[LanguageTag, float], prior: Mapping[LanguageTag, float] | None) -> Detected:
    weighed = dict(scores)
    if prior:
        total = sum(prior.values()) or 1.0
        weighed = {tag: score + log(max(prior.get(tag, 0.0) / total, _LEAST_PRIOR)) for tag, score in scores.items()}
    top = max(weighed, key=weighed.__getitem__)
    return Detected(top, 1.0 / sum(exp(score - weighed[top]) for score in weighed.values()))


def _expected(
    prior: Mapping[LanguageTag, float] | None, among: frozenset[LanguageTag] = frozenset(LANGUAGES)
) -> Detected:
    candidates = {tag: weight for tag, weight in (prior or {}).items() if tag in among and weight > 0}
    return Detected(max(candidates, key=candidates.__getitem__) if candidates else _EN, _UNSURE)
