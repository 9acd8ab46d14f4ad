"""engines/mt/bergamot.py: what can be seen without a model, and translations where the models are installed."""

import gzip
from pathlib import Path

import pytest

from engines.errors import BadModelFile
from engines.languages import LanguageTag
from engines.mt.bergamot import BergamotEngine
from engines.mt.types import Translation
from engines.store.catalogue import load_catalogue
from engines.store.library import Library
from tests.integration.mt_contract import holds_contract, request

pytestmark = pytest.mark.integration

EN, VI = LanguageTag("en"), LanguageTag("vi")
INSTALLED = [model for model in load_catalogue().models if model.engine == "bergamot" and Library().holds(model)]


def engine(folder: Path) -> BergamotEngine:
    return BergamotEngine(folder, "bergamot-en-vi", (EN, VI))


async def test_a_folder_without_a_model_says_what_to_do(tmp_path: Path) -> None:
    made = engine(tmp_path)
    with pytest.raises(BadModelFile) as fault:
        await made.warm()
    assert fault.value.hint == "sampan models pull"
    await made.close()


@pytest.mark.parametrize("content", [b"not a model", gzip.compress(b"not a model"), b"\x1f\x8b damaged"])
async def test_a_damaged_model_is_a_bad_file(tmp_path: Path, content: bytes) -> None:
    ending = ".gz" if content.startswith(b"\x1f") else ""
    for name in ("model.envi.intgemm.alphas.bin", "lex.50.50.envi.s2t.bin", "vocab.envi.spm"):
        (tmp_path / f"{name}{ending}").write_bytes(content)
    made = engine(tmp_path)
    with pytest.raises(BadModelFile):
        await made.run([request("hello")])
    await made.close()


@pytest.mark.skipif(not INSTALLED, reason="no Bergamot model is installed: sampan models pull --for zh,en")
@pytest.mark.parametrize("model", INSTALLED, ids=lambda model: model.name)
async def test_an_installed_model_translates(model: object) -> None:
    entry = next(one for one in INSTALLED if one is model)
    pair = entry.pairs[0]
    made = BergamotEngine(Library().folder(entry.name), entry.name, pair)
    text = {"en": "Good evening everyone, how much is this kettle?", "zh-Hans": "这个水壶多少钱？"}.get(
        pair[0], "1 2 3"
    )
    (answer,) = await made.run([request(text, *pair)])
    assert isinstance(answer, Translation)
    await holds_contract(made, fits=pair)
