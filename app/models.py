"""From the settings' model names to engines: which class runs which entry of the catalogue."""

from app.settings import ModelSettings
from engines.asr.whisper import WhisperEngine, WhisperSettings
from engines.cores import Cores
from engines.errors import BadModelFile
from engines.mt.llama_cpp import LlamaCppEngine, LlamaSettings
from engines.store.catalogue import Model
from engines.store.library import Library


def translation_engine(library: Library, settings: ModelSettings, cores: Cores) -> LlamaCppEngine:
    """The engine that translates. Raises StoreFault where its model is not here, BadModelFile for another kind."""
    model = _entry(library, settings.mt, "llama.cpp")
    return LlamaCppEngine(library.path(model.name), model.name, LlamaSettings(slots=settings.mt_slots), cores)


def recognition_engine(library: Library, settings: ModelSettings, cores: Cores) -> WhisperEngine:
    """The engine that recognises speech. Raises as `translation_engine`."""
    model = _entry(library, settings.asr, "ctranslate2-whisper")
    return WhisperEngine(library.path(model.name), WhisperSettings(threads=settings.asr_threads), cores)


def _entry(library: Library, name: str, engine: str) -> Model:
    model = library.catalogue.model(name)
    if model.engine != engine:
        raise BadModelFile(f"{name} runs on {model.engine}, not on {engine}", hint="choose another: sampan models list")
    return model
