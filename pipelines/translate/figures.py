"""Prices: found in a text, and said in another language with the same amount and the same currency."""

import csv
import re
from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from importlib.resources import files

import msgspec

from engines.languages import LanguageTag, is_chinese
from pipelines.spans import Span, SpanKind

_AMOUNT = r"(?<![\d.,])(?:\d{1,3}(?:[.,]\d{3}){1,4}(?:[.,]\d{1,2})?|\d{1,12}(?:[.,]\d{1,2})?)(?![\d]|[.,]\d)"
_TIMES = {"万": 10_000, "萬": 10_000, "w": 10_000, "千": 1_000, "k": 1_000, "rb": 1_000, "ribu": 1_000, "พัน": 1_000}
_TIMES |= {"jt": 1_000_000, "juta": 1_000_000, "tr": 1_000_000, "triệu": 1_000_000, "ล้าน": 1_000_000}
_TIMES |= {"nghìn": 1_000, "ngàn": 1_000, "หมื่น": 10_000, "แสน": 100_000, "亿": 100_000_000, "億": 100_000_000}

_BEFORE = {
    "HK$": "HKD", "NT$": "TWD", "US$": "USD", "S$": "SGD", "RMB": "CNY", "¥": "CNY", "￥": "CNY", "CNY": "CNY",
    "฿": "THB", "₫": "VND", "RP": "IDR", "RM": "MYR", "₱": "PHP", "€": "EUR", "₩": "KRW", "THB": "THB", "IDR": "IDR",
}  # fmt: skip
_AFTER = {
    "元": "CNY", "块钱": "CNY", "块": "CNY", "塊錢": "CNY", "塊": "CNY", "圆": "CNY", "人民币": "CNY", "人民幣": "CNY",
    "元人民币": "CNY", "蚊": "HKD", "港币": "HKD", "港元": "HKD", "港幣": "HKD", "新台币": "TWD", "新台幣": "TWD",
    "台币": "TWD", "台幣": "TWD", "美元": "USD", "美金": "USD", "欧元": "EUR", "歐元": "EUR",
    "日元": "JPY", "日圆": "JPY", "日圓": "JPY", "円": "JPY", "韩元": "KRW", "韓元": "KRW", "원": "KRW",
    "泰铢": "THB", "泰銖": "THB", "越南盾": "VND", "印尼盾": "IDR", "令吉": "MYR", "马币": "MYR", "馬幣": "MYR",
    "新币": "SGD", "新加坡元": "SGD", "比索": "PHP", "披索": "PHP",
    "yuan": "CNY", "rmb": "CNY", "tệ": "CNY", "หยวน": "CNY", "baht": "THB", "บาท": "THB", "฿": "THB",
    "vnđ": "VND", "vnd": "VND", "đồng": "VND", "đ": "VND", "₫": "VND", "rupiah": "IDR", "ringgit": "MYR",
    "usd": "USD", "us dollars": "USD", "hkd": "HKD", "sgd": "SGD", "euros": "EUR", "euro": "EUR", "€": "EUR",
    "yen": "JPY", "pesos": "PHP", "peso": "PHP", "piso": "PHP",
}  # fmt: skip
# In these languages an amount in thousands is a price in the country's own money, whether or not that is named.
_UNSAID = {"vi": ("k|tr", "VND"), "id": ("rb|ribu|jt", "IDR")}
_COUNTED = r"(?! ?(?:view|sub|fan|follow|like|người|lượt|orang|penonton))"
# Signs that mean other things too: 块 counts pieces (3块蛋糕), 元 begins words (元素).
_MONEY_ONLY = {"块": "(?=$|[^\u4e00-\u9fff]|[吧吗呢啊呀了的就能可包买一多])", "元": "(?![素旦首宵])"}
_YEN_SIGNS = frozenset("¥￥")
_NAMED_AS = {"zh-Hant-HK": "zh-Hant"}
_POINT_GROUPS = frozenset({"vi", "id"})
_GROUPED_FROM = 10_000


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """An amount of money. `currency`: ISO 4217."""

    amount: Decimal
    currency: str


def find_prices(text: str, language: LanguageTag) -> tuple[Span, ...]:
    """The prices in a text whose currency is named or, in Vietnamese and Indonesian, understood.

    A bare "$" is none: whose dollar it is nobody knows, so it is left for the text to say.
    """
    found = _pattern(language).finditer(text)
    return tuple(Span(price.start(), price.end(), SpanKind.PRICE) for price in found)


def say_price(text: str, source: LanguageTag, target: LanguageTag) -> str:
    """A price found in a `source` text, for a reader of `target`: the same amount of the same currency."""
    found = _pattern(source).fullmatch(text)
    if found is None or source == target:
        return text
    price = _read(found, source)
    names = _names()[price.currency]
    blank = "" if is_chinese(target) or target == "ja" else " "
    return f"{_written(price.amount, target)}{blank}{names.get(_NAMED_AS.get(target, target)) or names['en']}"


def _read(found: re.Match[str], language: LanguageTag) -> Price:
    before, after = found["before"], found["after"]
    times = found["times"] or found["after_times"] or found["unsaid"]
    amount = _number(found["a1"] or found["a2"] or found["a3"]) * (_TIMES[times.lower()] if times else 1)
    if found["tenths"]:
        amount += Decimal(found["tenths"]) / 10
    if before:
        yen = language == "ja" and before in _YEN_SIGNS
        return Price(amount=amount, currency="JPY" if yen else _BEFORE[before.upper()])
    return Price(amount=amount, currency=_AFTER[after.lower()] if after else _UNSAID[language][1])


def _number(text: str) -> Decimal:
    """Points and commas before three figures group them, before one or two they part the fraction."""
    fraction = re.search(r"[.,](\d{1,2})$", text)
    whole = text[: fraction.start()] if fraction else text
    return Decimal(re.sub(r"[.,]", "", whole) + (f".{fraction[1]}" if fraction else ""))


def _written(amount: Decimal, target: LanguageTag) -> str:
    amount = amount.quantize(Decimal(1)) if amount == amount.to_integral_value() else amount
    text = f"{amount:,f}" if amount >= _GROUPED_FROM else f"{amount:f}"
    return text.translate(str.maketrans(",.", ".,")) if target in _POINT_GROUPS else text


@cache
def _pattern(language: LanguageTag) -> re.Pattern[str]:
    times = _any_of(_TIMES)
    after = "|".join(re.escape(sign) + _MONEY_ONLY.get(sign, "") for sign in sorted(_AFTER, key=len, reverse=True))
    unsaid, _ = _UNSAID.get(language, ("(?!)", ""))
    return re.compile(
        rf"(?<![A-Za-z])(?P<before>{_any_of(_BEFORE)}) ?(?P<a1>{_AMOUNT}) ?(?P<times>(?:{times})(?![A-Za-z]))?"
        rf"|(?P<a2>{_AMOUNT}) ?(?P<after_times>{times})? ?(?P<after>{after})(?![A-Za-zÀ-ɏḀ-ỿ])"
        r"(?:(?<=块)(?P<tenths>\d)(?!\d))?"
        rf"|(?P<a3>{_AMOUNT}) ?(?P<unsaid>{unsaid})(?!\w){_COUNTED}",
        re.IGNORECASE,
    )


def _any_of(signs: Iterable[str]) -> str:
    return "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))


@cache
def _names() -> dict[str, dict[str, str]]:
    text = files("pipelines.translate").joinpath("currencies.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {row["iso"]: row for row in csv.DictReader(lines, delimiter="\t")}
