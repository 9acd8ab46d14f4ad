"""Personal data in comments: phone, identity and card numbers, e-mail addresses, handles of messengers.

Numbers are told by their form and, where the standard gives one, their check digit: GB 11643-1999 for resident
identity numbers, Hong Kong's identity card, ISO/IEC 7812 (Luhn) for bank cards; phones by E.164 country codes and the
national plans of the service's countries.
"""

import re
from collections.abc import Callable, Iterator

from pipelines.spans import Span, SpanKind, merge

_ALONE = r"(?<![\d.,$¥￥€])(?<!\d[-/])"
_END = r"(?![\d%]|[.,/:]\d|-\d)"

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2,24}(?![A-Za-z0-9])"
)

_ABROAD = re.compile(
    r"(?<![\w+])(?:\+|00)(?:86|852|853|886|66|84|62|60|65|63)[ -]?(?:\(?0?\)?)(?:[ -]?\d){7,11}" + _END
)
_AT_HOME = re.compile(
    _ALONE + r"(?:"
    r"1[3-9]\d([ -]?)\d{4}\1\d{4}"  # mainland China, mobile
    r"|0(?:10|2\d|[3-9]\d\d)-\d{7,8}"  # mainland China, with an area code
    r"|0[689]\d([ -]?)\d{3}\2\d{4}"  # Thailand; Malaysia writes its own as 01x
    r"|0[35789]\d([ .-]?)\d{3}\3\d{3,4}|0[35789]\d\d([ .])\d{3}\4\d{3}"  # Viet Nam
    r"|08\d{2}([ -]?)\d{3,4}\5\d{3,5}"  # Indonesia
    r"|01\d[ -]?\d{3,4}[ -]?\d{4}"  # Malaysia
    r"|(?!20\d\d[ -])[235689]\d{3}[ -]\d{4}"  # Hong Kong, Singapore: four and four; years are no phones
    r")" + _END
)
_AFTER_A_WORD = re.compile(
    r"(?:电话|電話|手机|手機|打给|打給|tel|phone|call|whatsapp|ws|โทร|เบอร์|sđt|sdt|hp|wa|no)(?:[.:：是 ]|号|號){0,3}"
    r"(?P<found>\+?\d(?:[ -]?\d){6,13})" + _END,
    re.IGNORECASE,
)
_RESIDENT = re.compile(
    r"(?<![\dA-Za-z])\d{6}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![\dA-Za-z])"
)
_HONG_KONG = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{1,2}\d{6}(?:\([0-9Aa]\)|[0-9Aa])(?![A-Za-z0-9])")
_CARD = re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")

_HANDLE = re.compile(
    r"(?:(?P<qq>(?<![A-Za-z])q{1,2}|扣扣)|微信|威信|薇信|ไลน์|id ?line|(?<![A-Za-z])line(?=[ ]?[:：@])"
    r"|(?<![A-Za-z])(?:wechat|weixin|vx|wx|v信|zalo|line ?id|ig|instagram|telegram|tg|whatsapp))"
    r"(?:[ :：@]|号|號|id|是|加|我){0,4}"
    r"(?P<found>[A-Za-z0-9][A-Za-z0-9_.-]{3,29})(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def find_personal(text: str) -> tuple[Span, ...]:
    """Where personal data stands in a normalised text, in order, without overlaps.

    Finds what has the form of personal data: runs such as 23333333, prices, dates and scores do not.
    """
    return merge(
        (
            list(_found(_EMAIL, text, SpanKind.EMAIL)),
            list(_found(_RESIDENT, text, SpanKind.ID_NUMBER, _is_resident)),
            list(_found(_HONG_KONG, text, SpanKind.ID_NUMBER, _is_hong_kong)),
            list(_found(_CARD, text, SpanKind.CARD, _is_card)),
            list(_found(_ABROAD, text, SpanKind.PHONE)),
            list(_found(_AT_HOME, text, SpanKind.PHONE, _varies)),
            list(_found(_AFTER_A_WORD, text, SpanKind.PHONE, _varies)),
            list(_handles(text)),
        )
    )


def _found(
    pattern: re.Pattern[str], text: str, kind: SpanKind, is_right: Callable[[str], bool] = bool
) -> Iterator[Span]:
    for match in pattern.finditer(text):
        start, end = match.span("found") if "found" in pattern.groupindex else match.span()
        if is_right(text[start:end]):
            yield Span(start, end, kind)


def _handles(text: str) -> Iterator[Span]:
    for match in _HANDLE.finditer(text):
        handle = match["found"]
        if match["qq"]:
            right = handle.isdigit() and 5 <= len(handle) <= 11 and _varies(handle)
        else:  # a word of letters alone would be what is said of the messenger
            right = len(handle) >= 5 and any(character.isdigit() or character in "_-." for character in handle)
        if right:
            yield Span(*match.span("found"), SpanKind.HANDLE)


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdigit()]


def _varies(number: str) -> bool:
    """Whether a number is not one that is typed for luck or laughter."""
    return len(set(_digits(number))) >= 4


def _is_card(number: str) -> bool:
    """The Luhn sum, ISO/IEC 7812-1 annex B."""
    digits = _digits(number)
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_resident(number: str) -> bool:
    """The check digit of GB 11643-1999 (ISO 7064, MOD 11-2)."""
    total = sum(int(digit) * (2 ** (17 - place) % 11) for place, digit in enumerate(number[:17]))
    return "10X98765432"[total % 11] == number[17].upper()


def _is_hong_kong(number: str) -> bool:
    """The check digit of Hong Kong's identity card: letters count 10 to 35, a missing first one 36."""
    letters, digits = re.fullmatch(r"([A-Z]{1,2})(\d{6})\(?[0-9A]\)?", number.upper()).groups()  # type: ignore[union-attr]
    values = [36] * (2 - len(letters)) + [ord(letter) - 55 for letter in letters] + [int(digit) for digit in digits]
    check = -sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True)) % 11
    return "0123456789A"[check] == number.strip("()").upper()[-1]
