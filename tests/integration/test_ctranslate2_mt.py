"""engines/mt/ctranslate2_engine.py on models of random weights, made here."""

from pathlib import Path

import pytest

from engines.engine import RowFailure
from engines.errors import BadModelFile
from engines.languages import LanguageTag
from engines.mt.codes import M2M100, NLLB
from engines.mt.ctranslate2_engine import CTranslate2Engine, CTranslate2Settings
from engines.mt.types import Translation, TranslationRequest
from tests.integration.mt_contract import TEXTS, holds_contract, request
from tests.support.tiny_mt import make_model

pytestmark = pytest.mark.integration

EN, VI, TH = (LanguageTag(tag) for tag in ("en", "vi", "th"))
PAIRS = ((EN, VI), (EN, TH))


def accepts(_text: str, _request: TranslationRequest) -> None:
    """Random weights say what no check would let pass."""


def engine(folder: Path, **settings: int) -> CTranslate2Engine:
    return CTranslate2Engine(folder, "tiny", PAIRS, CTranslate2Settings(threads=1, **settings), check=accepts)


@pytest.fixture(scope="module")
def opus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("opus"))


@pytest.mark.parametrize("settings", [{}, {"instances": 2}, {"beam_size": 2}])
async def test_the_contract_of_an_engine_holds(opus: Path, settings: dict[str, int]) -> None:
    await holds_contract(engine(opus, **settings), fits=("en", "vi"))


@pytest.mark.parametrize(
    "extra",
    [(">>vie<<", ">>tha<<"), [f"__{code}__" for code in M2M100.values()], sorted(set(NLLB.values()))],
    ids=["opus", "m2m100", "nllb"],
)
async def test_models_of_many_languages_are_told_which_is_wanted(tmp_path: Path, extra: list[str]) -> None:
    made = engine(make_model(tmp_path, extra=extra))
    try:
        into = [await made.run([request(text, target=target) for text in TEXTS]) for target in ("vi", "th")]
    finally:
        await made.close()
    texts = [[answer.text for answer in answers if isinstance(answer, Translation)] for answers in into]
    assert any(texts[0])
    assert texts[0] != texts[1]
    assert not any(code in text for code in extra for text in texts[0] + texts[1])


async def test_an_answer_that_is_no_translation_is_refused(opus: Path) -> None:
    checked = CTranslate2Engine(opus, "tiny", PAIRS, CTranslate2Settings(threads=1))
    try:
        answers = await checked.run([request(text, target="th") for text in TEXTS])
    finally:
        await checked.close()
    assert RowFailure("wrong_script") in answers
    assert not any(isinstance(answer, Translation) for answer in answers)


async def test_rows_of_one_call_are_of_one_pair_and_about_as_long(opus: Path) -> None:
    made = engine(opus)
    short, other, long = request("hi"), request("hello"), request("hello " * 50)
    assert made.group(short) == made.group(other) != made.group(long)
    assert made.group(short) != made.group(request("hi", target="th"))
    await made.close()


@pytest.mark.parametrize("missing", ["model.bin", "source.spm", "shared_vocabulary.json"])
async def test_a_damaged_folder_says_what_to_do(tmp_path: Path, missing: str) -> None:
    made = engine(make_model(tmp_path))
    (tmp_path / missing).write_bytes(b"") if missing == "model.bin" else (tmp_path / missing).unlink()
    with pytest.raises(BadModelFile) as fault:
        await made.warm()
    assert "pull" in fault.value.hint
    await made.close()
