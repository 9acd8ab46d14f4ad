"""Every setting of the speech path in one struct."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pipelines.speech.endpointing import EndpointingSettings
from pipelines.speech.gates import GateSettings
from pipelines.speech.recogniser import RecognitionSettings
from pipelines.speech.room_language import RoomLanguageSettings
from pipelines.speech.segmenter import SegmenterSettings


class SpeechSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From sound to pieces of text."""

    endpointing: EndpointingSettings = EndpointingSettings()
    recognition: RecognitionSettings = RecognitionSettings()
    language: RoomLanguageSettings = RoomLanguageSettings()
    gates: GateSettings = GateSettings()
    segmenter: SegmenterSettings = SegmenterSettings()
    backlog_s: Annotated[float, Meta(gt=0, le=60)] = 2.0
    """Sound that may wait for voice activity detection; beyond it the oldest is dropped and counted."""
    stall_s: Annotated[float, Meta(gt=0, le=60)] = 1.5
    """An open utterance is closed when no sound has come for so long."""
    closing: Annotated[int, Meta(ge=1, le=64)] = 8
    """Utterances that may wait for their final text; beyond it the oldest ends with what was heard of it."""
