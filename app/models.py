"""From the settings' model names to engines: which class runs which entry of the catalogue."""

from typing import TypeAlias

from app.settings import ModelSettings
from engines.asr.sherpa import SherpaEngine, SherpaSettings
from engines.asr.types import Recognition, RecognitionRequest
from engines.asr.whisper import WhisperEngine, WhisperSettings
from engines.cores import Cores
from engines.engine import Engine
from engines.errors import BadModelFile
from engines.languages import LANGUAGES, LanguageTag
from engines.mt.bergamot import BergamotEngine
from engines.mt.ctranslate2_engine import CTranslate2Engine, CTranslate2Settings
from engines.mt.llama_cpp import LlamaCppEngine, LlamaSettings
from engines.mt.routes import ANY_PAIR
from engines.mt.types import Translation, TranslationRequest
from engines.store.catalogue import Model
from engines.store.library import Library

TranslationEngine: TypeAlias = Engine[TranslationRequest, Translation]
RecognitionEngine: TypeAlias = Engine[RecognitionRequest, Recognition]


def translation_models(library: Library, settings: ModelSettings) -> list[Model]:
    """The models that translate: the one that is set and, where pairs are wanted, those of pairs that are installed.

    Raises StoreFault where the catalogue has no such name, BadModelFile where it does not translate.
    """
    first = library.catalogue.model(settings.mt)
    if first.kind != "mt":
        raise _wrong_kind(first)
    others = [library.catalogue.model(name) for name in library.installed()] if settings.mt_pairs else []
    return [first, *(model for model in others if ANY_PAIR not in model.scores and model.kind == "mt")]


def translation_engine(library: Library, model: Model, settings: ModelSettings, cores: Cores) -> TranslationEngine:
    """The engine of a translation model. Raises StoreFault where it is not here, BadModelFile for another kind."""
    path = library.path(model.name)
    if model.engine == "llama.cpp":
        return LlamaCppEngine(path, model.name, LlamaSettings(slots=settings.mt_slots), cores)
    if model.engine == "bergamot":
        (pair,) = _pairs(model)
        return BergamotEngine(library.folder(model.name), model.name, pair)
    if model.engine == "ctranslate2":
        return CTranslate2Engine(path, model.name, _pairs(model), CTranslate2Settings())
    raise _wrong_kind(model)


def recognition_engine(library: Library, settings: ModelSettings, cores: Cores) -> RecognitionEngine:
    """The engine that recognises speech. Raises as `translation_engine`."""
    model = library.catalogue.model(settings.asr)
    if model.engine == "ctranslate2-whisper":
        return WhisperEngine(library.path(model.name), WhisperSettings(threads=settings.asr_threads), cores)
    if model.engine == "sherpa-onnx":
        sherpa = SherpaSettings(threads=settings.asr_threads)
        return SherpaEngine(library.path(model.name), model.languages, sherpa, cores)
    raise _wrong_kind(model)


def _pairs(model: Model) -> list[tuple[LanguageTag, LanguageTag]]:
    if ANY_PAIR in model.scores:
        return [(one, other) for one in LANGUAGES for other in LANGUAGES if one != other]
    return [(LanguageTag(source), LanguageTag(target)) for source, target in (pair.split(">") for pair in model.scores)]


def _wrong_kind(model: Model) -> BadModelFile:
    return BadModelFile(f"{model.name} runs on {model.engine}", hint="choose another: sampan models list")
