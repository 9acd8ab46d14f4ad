"""Unicode, controls, combining marks and length: any string becomes text that is safe to show and to translate."""

import re
import unicodedata

from engines.lid.scripts import script_of

MAX_COMMENT_CHARACTERS = 2_000
_MARKS_PER_BASE = 3
_MARKS_ON = {"Myanmar": 6, "Khmer": 5}  # syllables of these scripts stack more
_LONGEST_RUN = 12

_SURROGATE = re.compile("[\ud800-\udfff]")
# Full-width letters and digits, ideographic and fixed-width spaces; Chinese punctuation stays as it was typed.
_NARROW = {0xFF10 + n: 0x30 + n for n in range(10)}
_NARROW |= {first + n: first - 0xFEE0 + n for first in (0xFF21, 0xFF41) for n in range(26)}
_HALF_KANA = re.compile("[\uff66-\uff9f]+")
# Letters that show nothing, line and paragraph ends, controls that part words.
_BLANK = re.compile(
    "[\t-\r\x1c-\x1f\x85\xa0\u115f\u1160\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000\u3164\uffa0]+"
)
# Other controls, soft hyphen, direction marks and overrides, joiners of no script, tags, non-characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u180b-\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e001f]"
)
_FLAG_OF_PART = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{1,8}\U000e007f")  # England
_TAGS = re.compile("[\U000e0020-\U000e007f]")
_JOINERS = re.compile("[\u200b-\u200d]")
_SELECTORS = re.compile("([\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_SOUTH_EAST_ASIAN = frozenset({"Thai", "Lao", "Khmer", "Myanmar"})
_JOINING = re.compile("[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17d3]")
_EMOJI = re.compile("[\u00a9\u00ae\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]")
_AFTER_EMOJI = "\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_TONES = "\U0001f3fb-\U0001f3ff"
_RUN = re.compile(rf"([{_TONES}]|[^\s{_TONES}][\ufe0f{_TONES}]?)\1{{{_LONGEST_RUN},}}")
_SPACES = re.compile(" {2,}")
_PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*")


class CommentRefused(ValueError):
    """A comment that is not taken: `code` is comment_too_long or comment_empty, `hint` says what to change."""

    def __init__(self, code: str, detail: str, *, hint: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.hint = hint


def clean_comment(text: str) -> str:
    """The text normalised, or CommentRefused: over 2,000 characters as received, or nothing to see in it."""
    if len(text) > MAX_COMMENT_CHARACTERS:
        raise CommentRefused(
            "comment_too_long",
            f"the comment has {len(text):,} characters",
            hint=f"send at most {MAX_COMMENT_CHARACTERS:,} characters",
        )
    clean = normalise(text)
    if not any(unicodedata.category(character)[0] not in "MCZ" for character in clean):
        raise CommentRefused("comment_empty", "the comment has nothing to see in it", hint="send some text")
    return clean


def normalise(text: str) -> str:
    """The text in NFC without what is unseen, overlong or out of order. Takes any string; normal text stays as it is.

    Full-width letters and digits and half-width kana become the usual ones. Joiners stay inside emoji sequences and
    in scripts that need them. A base keeps at most 3 marks (more in Khmer and Burmese), a character repeats at most
    12 times, blanks are single spaces. Normalising twice changes nothing more.
    """
    if not _PLAIN.fullmatch(text):
        text = _usual_width(_whole_characters(text))
        text = _without_tags(_UNSEEN.sub("", _BLANK.sub(" ", text)))
        # Bounded before, as ordering thousands of marks is slow, and after, as some marks become two.
        text = _bound_marks(unicodedata.normalize("NFC", _bound_marks(text)))
        text = _SELECTORS.sub(r"\1", _JOINERS.sub(_kept_joiner, text))
        text = _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip(" ")
    return _RUN.sub(lambda run: run[1] * _LONGEST_RUN, text)


def _whole_characters(text: str) -> str:
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _usual_width(text: str) -> str:
    text = text.translate(_NARROW)
    return _HALF_KANA.sub(lambda kana: unicodedata.normalize("NFKC", kana[0]), text)


def _without_tags(text: str) -> str:
    if not _TAGS.search(text):
        return text
    flags = [*_FLAG_OF_PART.findall(text), ""]
    between = [_TAGS.sub("", part) for part in _FLAG_OF_PART.split(text)]
    return "".join(part + flag for part, flag in zip(between, flags, strict=True))


def _bound_marks(text: str) -> str:
    if text.isascii():
        return text
    kept: list[str] = []
    marks, limit = 0, _MARKS_PER_BASE
    for character in text:
        category = unicodedata.category(character)
        if category[0] == "M":
            marks += 1
            if marks > limit:
                continue
        elif category != "Cf":
            marks, limit = 0, _MARKS_ON.get(script_of(character), _MARKS_PER_BASE)
        kept.append(character)
    return "".join(kept)


def _kept_joiner(joiner: re.Match[str]) -> str:
    """The zero-width character where writing needs it, else nothing."""
    start, end = joiner.span()
    before, after = joiner.string[max(0, start - 3) : start], joiner.string[end : end + 1]
    if not before or not after:
        return ""
    if joiner[0] == "\u200b":  # parts words where they are written without spaces
        wanted = {script_of(before[-1]), script_of(after)} <= _SOUTH_EAST_ASIAN
    elif _JOINING.match(before[-1]) and _JOINING.match(after):
        wanted = True
    else:
        base = before.rstrip(_AFTER_EMOJI)[-1:]
        wanted = joiner[0] == "\u200d" and bool(_EMOJI.match(base) and _EMOJI.match(after))
    return joiner[0] if wanted else ""
