"""What the speech paths of all rooms share."""

from collections.abc import Callable
from dataclasses import dataclass

from engines.languages import LanguageTag
from pipelines.speech.recogniser import Recognise
from pipelines.speech.settings import SpeechSettings
from pipelines.speech.voice import VoiceActivity


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechParts:
    """Models behind their protocols, settings, and two functions.

    `to_script` writes Chinese text in the script of a tag; `count` counts what is dropped, by cause.
    """

    voice: VoiceActivity
    recognise: Recognise
    settings: SpeechSettings
    to_script: Callable[[str, LanguageTag], str]
    count: Callable[[str], None]
