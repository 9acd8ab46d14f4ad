"""Do-not-translate spans of comments: addresses, names, tags, emotes, emoji, faces, product codes."""

import re
import unicodedata
from collections.abc import Collection

from pipelines.spans import Span, SpanKind, merge

_LONGEST_NAME = 30

_URL = re.compile(
    r"(?:https?://|www\.)[!-~]{1,2000}"
    r"|(?<![@A-Za-z0-9_.-])(?:[A-Za-z0-9-]{1,63}\.){1,4}(?:com|net|org|app|live|shop|link|info|io|me|tv|gg|ly|cn|hk|tw|sg|my|vn|th)"
    r"(?:/[!-~]*)?(?![A-Za-z0-9.-]*[A-Za-z0-9])"
)
_URL_TAIL = ".,;:!?'\")]}>"
# A name of Latin letters ends where these do; one of other letters only at a blank, as Chinese has none between words.
_NAME = re.compile(
    r"(?<![A-Za-z0-9_.@])@(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,29}[A-Za-z0-9_])?|[^\s@\[\]()（）【】,，.。!！?？:：;；、~]{1,20}(?=\s))"
)
_TAG = re.compile(r"#[^\s#@]{1,30}#|(?<![\w&#])#(?=[^\W\d_])\w{1,40}")
_EMOTE = re.compile(
    r"\[[^\[\]\s|<>]{1,20}\]"  # [doge], as Bilibili and Douyin write them
    r"|(?<!\w):[A-Za-z_][A-Za-z0-9_+-]{0,30}:(?!\w)"
    r"|/n(?![A-Za-z])"  # a line break in comment art
    r"|(?<!\w)(?:Kappa|KappaPride|PogChamp|PogU|LUL|KEKW|OMEGALUL|MonkaS|monkaS|BibleThump|ResidentSleeper|TriHard"
    r"|NotLikeThis|FeelsBadMan|FeelsGoodMan|PepeHands|Sadge|HeyGuys|SeemsGood|CatJAM|catJAM|DansGame)(?!\w)"
)
_PICTURE = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001faff]"
)
_EMOJI = re.compile(
    r"[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3"
    rf"|{_PICTURE}[\ufe0f\U0001f3fb-\U0001f3ff]?(?:\u200d{_PICTURE}[\ufe0f\U0001f3fb-\U0001f3ff]?)*[\U000e0020-\U000e007f]*"
)
_EMOTICON = re.compile(
    r"(?<![A-Za-z0-9])(?:>?[:;=xX8]-?[dDpPoO3()]|[dDpP][:;=]|[TQ][_.]?[TQ]|[TQ][AwW][TQ]|[oOu0][wW_.]+[oOu0]|orz|OTZ|OTL|XD+"
    r"|<3+|[\^>=][_.wWo-]*[\^<=])(?![A-Za-z0-9])"
)
_FACE = re.compile(r"[^\w\s]{0,8}[(（][^()（）]{1,16}[)）][^\s\w]{0,8}|[^\w\s][^\s]{0,10}[^\w\s]")
_FACE_LETTERS = frozenset("ωДдЦзεσοoOvuUTwxVყლノヽヾツシつっとくへлиوಠ益皿口ロ人一二艸三ㅂㅅㅠㅜㅇᴗᵕʕʔಥ٩۶ง")
# A7M4, SKU-1203, RTX4090: capitals, then figures. "XL2" and the like are sizes, which stay as they are too.
_CODE = re.compile(
    r"(?<![A-Za-z0-9-])(?!(?:RMB?|RP|CNY|THB|IDR|MYR|USD|SGD|HKD|VND|PHP|NT|HK|US)\d)[A-Z]{1,6}-?\d{1,6}(?:[A-Za-z]{0,3}\d{0,4})(?:-[A-Za-z0-9]{1,8})?(?![A-Za-z0-9])"
)


def find_spans(text: str, authors: Collection[str] = ()) -> tuple[Span, ...]:
    """What of a normalised comment is to stay as it is, in order, without overlaps.

    `authors`: who wrote in the room lately; after an "@" the longest of these names is the name, which blanks and the
    words that follow could not tell.
    """
    return merge(
        (
            _urls(text),
            _known_names(text, authors),
            _all(_NAME, text, SpanKind.NAME),
            _all(_TAG, text, SpanKind.TAG),
            _all(_EMOTE, text, SpanKind.EMOTE),
            _all(_EMOTICON, text, SpanKind.FACE),
            _faces(text),
            _all(_EMOJI, text, SpanKind.EMOJI),
            _all(_CODE, text, SpanKind.CODE),
        )
    )


def _all(pattern: re.Pattern[str], text: str, kind: SpanKind) -> list[Span]:
    return [Span(found.start(), found.end(), kind) for found in pattern.finditer(text)]


def _urls(text: str) -> list[Span]:
    found = _all(_URL, text, SpanKind.URL)
    return [Span(url.start, url.start + len(text[url.start : url.end].rstrip(_URL_TAIL)), url.kind) for url in found]


def _known_names(text: str, authors: Collection[str]) -> list[Span]:
    spans: list[Span] = []
    at = text.find("@")
    while at >= 0:
        after = text[at + 1 : at + 1 + _LONGEST_NAME]
        names = [after[:length] for length in range(len(after), 0, -1) if after[:length] in authors]
        if names:
            spans.append(Span(at, at + 1 + len(names[0]), SpanKind.NAME))
        at = text.find("@", at + 1)
    return spans


def _faces(text: str) -> list[Span]:
    return [face for face in _all(_FACE, text, SpanKind.FACE) if _is_face(text[face.start : face.end])]


def _is_face(text: str) -> bool:
    """Whether a piece has only letters that faces are drawn with, more signs than letters, and is no punctuation."""
    letters = [character for character in text if character.isalpha()]
    signs = [character for character in text if not character.isalnum()]
    drawn = bool(letters) or any(unicodedata.category(sign)[0] == "S" for sign in signs)
    return drawn and len(signs) >= 2 and 2 * len(letters) < len(text) and _FACE_LETTERS.issuperset(letters)
