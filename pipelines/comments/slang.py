"""Chat slang in plain words of its own language, so that a small translation model takes it as it was meant."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from itertools import groupby

import msgspec

from engines.languages import LANGUAGES, LanguageTag
from pipelines.spans import Reworded, Span, SpanKind

_READ_AS = {LanguageTag("zh-Hant-HK"): LanguageTag("zh-Hant")}  # languages that share a lexicon
_AS_IT_IS = "="  # in place of plain wording: a longer word that only looks like slang
_SILENT = frozenset({SpanKind.URL, SpanKind.NAME, SpanKind.TAG, SpanKind.EMOTE, SpanKind.EMOJI, SpanKind.FACE})
_GAP, _WORD = "\x00", "\ue000"  # stand for kept characters: those beside the words of a comment, those among them

_MARKS = r"\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a"
_LATIN = rf"0-9a-z_\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff{_MARKS}"
_LETTER = rf"\w{_MARKS}"
_IS_LATIN = re.compile(f"[{_LATIN}]")

# What makes digits a number: signs, words and units next to them, at most one blank between.
_NUMBER_AFTER = re.compile(
    r"[¥￥$€£฿₫₱#№×*/=+第共满滿减減价價卖賣才仅只到付花收值要约約近超至于於号號码碼款房之送]$|(?<![买買])[买買]$|房[间間]$"
    r"|[0-9][.,:~\-–]$|(?:^|[ (（])-$"
    r"|(?<![a-z])(?:cf|no|ep|rm|rp|usd|sgd|hkd|nt|vnd|thb|php|idr|code|room|top)$"
    r"|(?:ราคา|เลข|เบอร์|ห้อง|ที่|ละ|แค่|เพียง|เหลือ|รวม|โค้ด|รหัส|ลด)$"
)
_NUMBER_BEFORE = re.compile(
    r"[.,:/~×*=+\-–]\s?[0-9]|[%％‰°℃]"
    r"|[元圆圓块塊毛角分号號楼樓万萬千百亿億个個件条條双雙盒瓶包袋斤克米岁歲年月日点點时時秒期集章层層级級次人位名折码碼倍度寸币幣"
    r"张張本台部辆輛股票枚颗顆粒套页頁周週円番](?!赞|讚|场面|場面)"
    r"|路(?![人过過转轉])|起(?![飞飛来來])|到手|拿下|左右|以[内內下上]|多[元块塊]|[送减減]\s?[0-9]"
    r"|[一两兩二三四五][件条條双雙盒瓶包袋斤套单單]"
    r"|小时|小時|公斤|公里|家(?!人)|天(?![哪呐啊])|只(?![要有能是想])"
    r"|(?:บาท|บ\.|วัน|คน|ชิ้น|ตัว|ปี|เดือน|นาที|ครั้ง|กล่อง|ชุด|เม็ด|กิโล|โล|กรัม|มล|เหรียญ|ไลก์|วิว)"
    r"|(?:k|kg|g|ml|cm|mm|km|m|gb|mb|rb|ribu|usd|baht|円|원|명|개|đ|px|fps)(?![a-z])"
)


class _How(StrEnum):
    """Where a term is slang."""

    WORD = "word"  # between letters of no word
    WHOLE = "whole"  # nothing else in the comment but punctuation, emoji, names and links
    ANYWHERE = "anywhere"  # between letters too, where words are written without blanks
    RUN = "run"  # its last character, or the last part that it says twice, once or many times more


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a lexicon; without `plain` the term is no slang although a part of it is."""

    term: str
    plain: str | None
    how: _How


class Slang:
    """The slang of all languages. Immutable: build it once per process."""

    def __init__(self, terms: Mapping[LanguageTag, Sequence[Term]]) -> None:
        self._lexicons = {language: _Lexicon(of_language) for language, of_language in terms.items() if of_language}

    @classmethod
    def load(cls) -> "Slang":
        """With the lexicons that come with the service.

        Raises ValueError that names the file and line of a term that is empty, said twice or of an unknown kind.
        """
        terms: dict[LanguageTag, Sequence[Term]] = {}
        folder = files("pipelines.comments").joinpath("lexicons")
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            language, _, ending = file.name.rpartition(".")
            if ending != "tsv":
                continue
            if language not in LANGUAGES:
                raise ValueError(f"{file.name}: {language!r} is no language of the service")
            terms[LanguageTag(language)] = parse_lexicon(file.name, file.read_text(encoding="utf-8"))
        return cls(terms)

    def reworded(self, text: str, language: LanguageTag, keep: Sequence[Span] = ()) -> tuple[Reworded, ...]:
        """The slang in a normalised text, first to last; none of it touches or reaches across a span of `keep`."""
        lexicon = self._lexicons.get(_READ_AS.get(language, language))
        return tuple(lexicon.found(_masked(_small(text), keep))) if lexicon else ()


class _Lexicon:
    """The terms of one language, ready to be looked for in small letters."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._whole = {term.term.lower(): term.plain for term in terms if term.how is _How.WHOLE}
        self._longest_whole = max(map(len, self._whole), default=0)
        # By their first characters, which a search is quick to rule out; of each the longest stands first.
        self._inside = sorted(
            (term for term in terms if term.how is not _How.WHOLE),
            key=lambda term: (term.term[0].lower(), -len(term.term)),
        )
        groups = groupby(self._inside, key=lambda term: term.term[0].lower())
        self._pattern = re.compile("|".join(_beginning_with(first, list(group)) for first, group in groups) or "(?!)")

    def found(self, text: str) -> Iterator[Reworded]:
        start, end = _without_edges(text, self._longest_whole)
        whole = self._whole.get(text[start:end])
        if whole is not None and not _is_number(text, start, end):
            yield Reworded(start, end, whole)
            return
        for match in self._pattern.finditer(text):
            plain = self._inside[(match.lastindex or 0) - 1].plain
            if plain is not None and not _is_number(text, *match.span()):
                yield Reworded(*match.span(), plain)


def parse_lexicon(name: str, content: str) -> tuple[Term, ...]:
    """The terms of a lexicon: lines `term<TAB>plain<TAB>how`, or comments after `#`. Raises ValueError, see load()."""
    terms: dict[str, Term] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{name}, line {number}"
        fields = [unicodedata.normalize("NFC", field) for field in line.split("\t")]
        if len(fields) != 3 or not all(field and field == field.strip() for field in fields):
            raise ValueError(f"{where}: not a term, its plain wording and a kind with tabs between")
        term, plain, how = fields
        if how not in set(_How):
            raise ValueError(f"{where}: {how!r} is not one of: {', '.join(_How)}")
        if term.lower() in terms:
            raise ValueError(f"{where}: {term!r} is there already")
        terms[term.lower()] = Term(term=term, plain=None if plain == _AS_IT_IS else plain, how=_How(how))
    return tuple(terms.values())


def _beginning_with(first: str, terms: Sequence[Term]) -> str:
    """A regex for terms with one first character and a group for each; what stands before it is looked at after it."""
    begin = re.escape(first)
    if _IS_LATIN.match(first):
        begin += f"(?<![{_LATIN}]{begin})(?<![{_LATIN}][-'’.@]{begin})"
    return f"{begin}(?:{'|'.join(f'({_after_first(term)})' for term in terms)})"


def _after_first(term: Term) -> str:
    """A regex for the rest of a term, without groups or ways back into what it took: a search takes linear time."""
    text = term.term.lower()
    first, last = re.escape(text[0]), text[-1]
    if _IS_LATIN.match(first):
        before = f"(?<![0-9] {first})" if len(text) == 1 else ""  # "50 k" is fifty thousand
    elif term.how is _How.WORD:
        before = f"(?<![{_LETTER}]{first})"
    else:
        part = _said_again(text)  # from inside a run nothing begins
        before = f"(?<!{re.escape(part)}{first})" if term.how is _How.RUN and text.startswith(part) else ""
    if _IS_LATIN.match(last):
        after = f"(?![-'’.@]?[{_LATIN}])"
    else:
        after = f"(?![{_LETTER if term.how is _How.WORD else _MARKS}])"
    return before + (_run_after_first(text) if term.how is _How.RUN else _literal(text[1:])) + after


def _literal(text: str) -> str:
    return re.escape(text).replace("'", "['’]")


def _run_after_first(text: str) -> str:
    """`233` is 2 and two or more 3; `wkwk` is two or more wk, of which the last may be a w only."""
    part = _said_again(text)
    times = 1
    while text.endswith(part * (times + 1)):
        times += 1
    once = text[: len(text) - len(part) * times]
    if not once:
        once, times = part, times - 1
    wording = f"{_literal(once[1:])}(?:{_literal(part)}){{{times},}}+"
    if len(part) > 1:
        wording += f"(?:{_literal(part[:-1])})?+"
    return wording + r"\+*+" if text.isdigit() else wording


def _said_again(text: str) -> str:
    """What a run repeats: the shortest part that the term ends with twice, else its last character."""
    size = next((size for size in range(1, len(text) // 2 + 1) if text.endswith(text[-size:] * 2)), 1)
    return text[-size:]


def _small(text: str) -> str:
    """In small letters, as long as it was."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(letter.lower()[0] for letter in text)


def _masked(text: str, keep: Sequence[Span]) -> str:
    """The text, as long as it was, with nothing to find in its kept spans."""
    if not keep:
        return text
    characters = list(text)
    for span in keep:
        sign = _GAP if span.kind in _SILENT else _WORD
        for place in range(max(0, span.start), min(len(text), span.end)):
            characters[place] = sign
    return "".join(characters)


def _without_edges(text: str, longest: int) -> tuple[int, int]:
    """Where the words of a text begin and end; an empty range for more than `longest` characters."""
    start, end = 0, len(text)
    while start < end and _says_nothing(text[start]):
        start += 1
    while end > start and _says_nothing(text[end - 1]):
        end -= 1
    return (start, end) if end - start <= longest else (start, start)


def _says_nothing(character: str) -> bool:
    return character != _WORD and (unicodedata.category(character)[0] in "ZPSC" or character == "\ufe0f")


def _is_number(text: str, start: int, end: int) -> bool:
    """Whether digits at an edge of [start, end) count, measure or name something: a price, an age, a room."""
    before, after = text[max(0, start - 8) : start].removesuffix(" "), text[end : end + 8].removeprefix(" ")
    digits = text[start:end]  # 666 666 says it twice, 0800 666 is a telephone's
    if text[start].isdigit() and (_NUMBER_AFTER.search(before) or (before[-1:].isdigit() and before[-1] not in digits)):
        return True
    if text[end - 1] not in "0123456789+":
        return False
    return bool(_NUMBER_BEFORE.match(after)) or (after[:1].isdigit() and after[0] not in digits)
