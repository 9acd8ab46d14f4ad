"""Comments without words in any language: every reader gets them as they are."""

import re

_AS_THEY_ARE = re.compile(
    r"https?://\S+|www\.\S+"
    r"|\[[^\[\]\s]{1,20}\]|:[A-Za-z0-9_+-]{2,30}:|/n(?![A-Za-z])"  # emote codes; /n breaks a line of comment art
    r"|@[A-Za-z0-9_.]{1,40}",
)
_EMOTICON = re.compile(
    r"(?<![^\W\d_])(?:[:;=xX8]-?[dDpPoO3]|[dDpP][:;=]|[TQ][_.]?[TQ]|[TQ][AwW][TQ]|[oOu0][wW_.]+[oOu0]|orz|OTZ|OTL|XD+)"
    r"(?![^\W\d_])"
)
_FACE = re.compile(r"[^\w\s]{0,8}[(（][^()（）]{1,16}[)）][^\s\w]{0,8}|[^\w\s][^\s]{0,10}[^\w\s]")
_FACE_LETTERS = frozenset("ωДдЦзεσοoOvuUTwxVყლノヽヾツシつっとくへлиوಠ益皿口ロ人一二艸三ㅂㅅㅠㅜㅇᴗᵕʕʔಥ٩۶ง")
_LETTERLIKE_EMOJI = frozenset("ℹ")


def needs_no_translation(text: str) -> bool:
    """Whether a normalised text has no word: emoji, numbers, punctuation, faces, URLs, @names and emote codes only."""
    rest = _AS_THEY_ARE.sub(" ", text)
    if not _letters(rest):
        return True
    rest = _EMOTICON.sub(" ", rest)
    rest = _FACE.sub(lambda face: " " if _is_face(face[0]) else face[0], rest)
    return not _letters(rest)


def _letters(text: str) -> set[str]:
    return {character for character in text if character.isalpha()} - _LETTERLIKE_EMOJI


def _is_face(text: str) -> bool:
    """Whether a piece has only letters that faces are drawn with, and more signs than letters."""
    letters = [character for character in text if character.isalpha()]
    return 2 * len(letters) < len(text) and _FACE_LETTERS.issuperset(letters)
