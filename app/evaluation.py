"""Scores translations against references: BLEU and chrF by sacrebleu, and the shares of answers that went wrong."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import sacrebleu

from engines.languages import LANGUAGES, LanguageTag, UnknownLanguage, is_chinese, parse_language
from engines.lid.scripts import script_shares

# Words of these are not parted by blanks, so BLEU counts characters (Chinese: sacrebleu's own way, "zh").
_BY_CHARACTER = frozenset({"th", "ja", "km", "my", "lo"})
_OWN_SHARE = 0.5
_LATIN_WORD = re.compile("[A-Za-zÀ-ɏḀ-ỿ]+")


class EvaluationError(ValueError):
    """What keeps a file from being scored, and what to do about it."""

    def __init__(self, detail: str, *, hint: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One text, its reference translation, and what other systems made of it, by their names."""

    source: str
    reference: str
    others: dict[str, str]


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """How one system did on a set of lines. Shares are of all lines, 0 to 1.

    `wrong_script`: less than half of the answer's letters are the target's, words of the source (names) left out;
    `untranslated`: the answer is the source; `empty`: there is none.
    """

    bleu: float
    chrf: float
    wrong_script: float
    untranslated: float
    empty: float


def parse_pair(pair: str) -> tuple[LanguageTag, LanguageTag]:
    """The two languages of "zh-en", "zh-Hans-vi" or "zh-Hans>yue". Raises UnknownLanguage."""
    parts = pair.replace(">", "-").split("-")
    for cut in range(len(parts) - 1, 0, -1):
        source, target = "-".join(parts[:cut]), "-".join(parts[cut:])
        if _is_language(source) and _is_language(target):
            return parse_language(source), parse_language(target)
    raise UnknownLanguage(pair)


def read_lines(path: Path, source: LanguageTag, target: LanguageTag, limit: int | None = None) -> list[Line]:
    """The lines of a JSON Lines file: `src`, `ref` and other systems' outputs, or texts keyed by language tag.

    Raises EvaluationError naming the file and the line.
    """
    lines: list[Line] = []
    try:
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines()[:limit], 1):
            lines.append(_line(text, source, target, f"{path}:{number}"))
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path} can't be read: {error}", hint="name a JSON Lines file in UTF-8") from error
    if not lines:
        raise EvaluationError(f"{path} holds no lines", hint='write one object a line: {"src": "…", "ref": "…"}')
    return lines


def score(answers: Sequence[str], lines: Sequence[Line], target: LanguageTag) -> Scores:
    """Scores of `answers`, one a line in order. An answer that failed counts as the empty text."""
    references = [[line.reference for line in lines]]
    tokenize = "zh" if is_chinese(target) else "char" if target in _BY_CHARACTER else "13a"
    pairs = list(zip(answers, lines, strict=True))
    return Scores(
        bleu=sacrebleu.corpus_bleu(answers, references, tokenize=tokenize).score,
        chrf=sacrebleu.corpus_chrf(answers, references).score,
        wrong_script=_share(
            bool(answer.strip()) and not _is_written_as(answer, line.source, target) for answer, line in pairs
        ),
        untranslated=_share(bool(answer.strip()) and _same(answer, line.source) for answer, line in pairs),
        empty=_share(not answer.strip() for answer in answers),
    )


def other_systems(lines: Sequence[Line]) -> dict[str, list[str]]:
    """The outputs of every system that has one on each line, by its name."""
    names = [name for name in lines[0].others if all(name in line.others for line in lines)]
    return {name: [line.others[name] for line in lines] for name in names}


def _line(text: str, source: LanguageTag, target: LanguageTag, where: str) -> Line:
    try:
        row: dict[str, Any] = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise EvaluationError(f"{where}: {error}", hint="each line has to be one JSON object") from error
    names = ("src", "ref") if "src" in row else (source, target)
    if not all(isinstance(row.get(name), str) for name in names):
        raise EvaluationError(
            f"{where} lacks {names[0]!r} or {names[1]!r}",
            hint=f"give both as text: src and ref, or {source} and {target}",
        )
    # In a file keyed by language the other texts are other languages, not other systems.
    others = {name: said for name, said in row.items() if isinstance(said, str)} if names[0] == "src" else {}
    return Line(
        source=row[names[0]],
        reference=row[names[1]],
        others={name: said for name, said in others.items() if name not in names},
    )


def _is_language(tag: str) -> bool:
    try:
        parse_language(tag)
    except UnknownLanguage:
        return False
    return True


def _is_written_as(text: str, source: str, target: LanguageTag) -> bool:
    carried = set(_LATIN_WORD.findall(source))
    shares = script_shares(_LATIN_WORD.sub(lambda word: "" if word[0] in carried else word[0], text))
    return not shares or sum(shares.get(script, 0.0) for script in LANGUAGES[target].scripts) >= _OWN_SHARE


def _same(answer: str, source: str) -> bool:
    return answer.strip().casefold() == source.strip().casefold()


def _share(found: Iterable[bool]) -> float:
    each = list(found)
    return sum(each) / len(each)
