"""The catalogue that ships, and what a catalogue may not say."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import StoreFault
from engines.languages import LANGUAGES
from engines.store.catalogue import (
    HttpsOrigin,
    HubOrigin,
    ModelFile,
    ModelScopeOrigin,
    WheelFile,
    WheelsOrigin,
    is_inside,
    is_name,
    load_catalogue,
)

pytestmark = pytest.mark.unit

SHIPPED = load_catalogue()


def test_the_defaults_translate_and_recognise_and_may_be_used_commercially() -> None:
    mt, asr = SHIPPED.model(SHIPPED.defaults.mt), SHIPPED.model(SHIPPED.defaults.asr)
    assert (mt.kind, asr.kind) == ("mt", "asr")
    assert not mt.non_commercial
    assert not asr.non_commercial


ON_HUBS = [model for model in SHIPPED.models if model.engine not in ("bergamot", "sherpa-onnx")]


@pytest.mark.parametrize("model", SHIPPED.models, ids=lambda model: model.name)
def test_every_shipped_model_names_known_languages_and_its_scores_their_pairs(model) -> None:
    assert set(model.languages) <= set(LANGUAGES)
    pairs = set(model.scores) - {"*"}
    assert {tag for pair in pairs for tag in pair.split(">")} <= set(model.languages)
    assert bool(model.scores) == (model.kind == "mt")


@pytest.mark.parametrize("model", ON_HUBS, ids=lambda model: model.name)
def test_a_general_model_comes_from_a_hub_a_mirror_modelscope_and_wheels(model) -> None:
    assert [type(source) for source in model.sources] == [HubOrigin, HubOrigin, ModelScopeOrigin, WheelsOrigin]


def test_models_for_sherpa_come_from_a_hub_and_its_mirror_at_the_same_commit() -> None:
    models = [model for model in SHIPPED.models if model.engine == "sherpa-onnx"]
    assert {"zh-Hans", "yue", "ja", "ko", "vi"} <= {tag for model in models for tag in model.languages}
    for model in models:
        assert model.kind == "asr"
        assert "tokens.txt" in {file.path for file in model.files}
        hub, mirror = [source for source in model.sources if isinstance(source, HubOrigin)]
        assert (hub.repo, hub.revision) == (mirror.repo, mirror.revision)


def test_students_come_from_their_repository_at_one_commit() -> None:
    students = [model for model in SHIPPED.models if model.engine == "bergamot"]
    assert {pair for model in students for pair in model.scores} >= {"zh-Hans>en", "en>zh-Hans", "id>en", "vi>en"}
    for model in students:
        (source,) = model.sources
        assert isinstance(source, HttpsOrigin)
        assert "e7957fc407441a5e3e35bbcbf9d60d9b35764618" in source.files_url
        assert all(file.path.endswith(".gz") for file in model.files)


@pytest.mark.parametrize("model", ON_HUBS, ids=lambda model: model.name)
def test_the_parts_in_the_wheels_of_a_shipped_model_add_up_to_its_files(model) -> None:
    wheels = next(source for source in model.sources if isinstance(source, WheelsOrigin))
    parts = {file.path: file for file in wheels.files}
    assert set(parts) == {file.path for file in model.files}
    for file in model.files:
        cut = parts[file.path]
        if cut.count > 1:
            assert (cut.count - 1) * cut.part_bytes < file.size_bytes <= cut.count * cut.part_bytes


@pytest.mark.parametrize("model", SHIPPED.models, ids=lambda model: model.name)
def test_hubs_are_asked_for_a_pinned_revision(model) -> None:
    for source in model.sources:
        if isinstance(source, HubOrigin):
            assert len(source.revision) == 40
            assert source.files_url.startswith("https://")


def test_an_unknown_name_is_answered_with_the_names_there_are() -> None:
    with pytest.raises(StoreFault, match="no model named 'nosuch'") as refused:
        SHIPPED.model("nosuch")
    assert SHIPPED.defaults.mt in refused.value.hint


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc", "a/b", "a\\b", ".hidden", "a..b", "A", "a\n", "a "])
def test_a_name_that_is_no_plain_folder_name_is_refused(name: str) -> None:
    assert not is_name(name)


@given(st.text())
def test_whatever_is_accepted_as_a_name_is_one_folder_below_the_root(name: str) -> None:
    if is_name(name):
        assert (Path("/root") / name).resolve() == Path("/root").resolve() / name


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a/..", ".seals.json", "a/.partial"])
def test_a_file_path_that_leaves_the_model_or_hides_in_it_is_refused(path: str) -> None:
    assert not is_inside(path)
    with pytest.raises(ValueError, match="leaves"):
        ModelFile(path=path, size_bytes=1, sha256="0" * 64)


@pytest.mark.parametrize("digest", ["", "0" * 63, "0" * 65, "G" * 64, "A" * 64])
def test_a_hash_that_is_no_sha256_is_refused(digest: str) -> None:
    with pytest.raises(ValueError, match="sha256"):
        ModelFile(path="a", size_bytes=1, sha256=digest)


def test_wheels_that_cut_a_file_must_say_how_long_a_part_is() -> None:
    with pytest.raises(ValueError, match="part_bytes"):
        WheelFile(path="a", package="p{n}", member="m{n}", count=2)


def test_a_catalogue_with_a_misspelt_key_is_refused_and_the_key_is_named(tmp_path: Path) -> None:
    shipped = msgspec.to_builtins(SHIPPED)
    shipped["models"][0]["sources"][0]["revison"] = "main"
    path = tmp_path / "catalogue.toml"
    path.write_bytes(msgspec.toml.encode(shipped))
    with pytest.raises(StoreFault, match="revison"):
        load_catalogue(path)


def test_a_catalogue_whose_default_is_missing_is_refused(tmp_path: Path) -> None:
    shipped = msgspec.to_builtins(SHIPPED)
    shipped["defaults"]["asr"] = shipped["defaults"]["mt"]
    path = tmp_path / "catalogue.toml"
    path.write_bytes(msgspec.toml.encode(shipped))
    with pytest.raises(StoreFault, match="default asr model"):
        load_catalogue(path)


def test_a_catalogue_that_is_not_there_is_a_clear_fault(tmp_path: Path) -> None:
    with pytest.raises(StoreFault, match="cannot be read"):
        load_catalogue(tmp_path / "none.toml")
