"""Which engine runs which entry of the catalogue."""

from pathlib import Path

import pytest

from app.models import recognition_engine
from app.settings import ModelSettings
from engines.asr.sherpa import SherpaEngine
from engines.asr.whisper import WhisperEngine
from engines.cores import Cores
from engines.errors import BadModelFile, StoreFault
from engines.store.catalogue import load_catalogue
from engines.store.library import Library

pytestmark = pytest.mark.unit

SHIPPED = load_catalogue()


def library_with(root: Path, name: str) -> Library:
    """A library in which every file of a model has its right size and nothing in it."""
    library = Library(root, SHIPPED)
    folder = library.folder(name)
    folder.mkdir(parents=True)
    for file in SHIPPED.model(name).files:
        with (folder / file.path).open("wb") as opened:
            opened.truncate(file.size_bytes)
    return library


@pytest.mark.parametrize(
    "model", [model for model in SHIPPED.models if model.kind == "asr"], ids=lambda model: model.name
)
async def test_the_settings_name_of_a_recognition_model_picks_its_engine(tmp_path: Path, model) -> None:
    engine = recognition_engine(library_with(tmp_path, model.name), ModelSettings(asr=model.name), Cores(2))
    assert isinstance(engine, SherpaEngine if model.engine == "sherpa-onnx" else WhisperEngine)
    assert engine.version.startswith(model.name)
    await engine.close()


def test_a_recognition_model_that_is_not_here_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    library = Library(tmp_path, SHIPPED)
    with pytest.raises(StoreFault, match="sense-voice"):
        recognition_engine(library, ModelSettings(asr="sense-voice-small-int8"), Cores(2))
    with pytest.raises(BadModelFile, match="runs on llama"):
        recognition_engine(library, ModelSettings(asr=SHIPPED.defaults.mt), Cores(2))
