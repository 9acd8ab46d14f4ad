"""Where models lie, whether they are whole, and that nothing outside the root is touched."""

import os
from pathlib import Path

import pytest

from engines.errors import StoreFault
from engines.store.catalogue import FolderOrigin
from engines.store.library import library_root
from tests.unit.engines.store.builders import content, library_of, model_of, write

pytestmark = pytest.mark.unit

ONE = {"weights.gguf": content(1000)}
TWO = {"config.json": b"{}", "sub/model.bin": content(500)}
NOWHERE = FolderOrigin(folder="/nowhere")


def test_the_root_is_what_sampan_models_says_else_the_cache_folder() -> None:
    assert library_root({"SAMPAN_MODELS": "/m", "XDG_CACHE_HOME": "/c"}) == Path("/m")
    assert library_root({"XDG_CACHE_HOME": "/c"}) == Path("/c/sampan/models")
    assert library_root({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache/sampan/models"
    assert library_root({}) == Path.home() / ".cache/sampan/models"


def test_an_engine_opens_the_file_of_a_one_file_model_and_the_folder_of_others(tmp_path: Path) -> None:
    library = library_of(tmp_path, model_of(ONE, NOWHERE, name="one"), model_of(TWO, NOWHERE, name="two"))
    write(tmp_path / "one", ONE)
    write(tmp_path / "two", TWO)
    assert library.path("one") == tmp_path / "one/weights.gguf"
    assert library.path("two") == tmp_path / "two"
    assert library.installed() == ("one", "two")


def test_a_model_that_is_not_there_is_a_fault_that_says_how_to_get_it(tmp_path: Path) -> None:
    library = library_of(tmp_path, model_of(ONE, NOWHERE))
    with pytest.raises(StoreFault) as missing:
        library.path("tiny")
    assert "sampan models pull tiny" in missing.value.hint
    assert library.installed() == ()


def test_verify_tells_missing_short_and_damaged_files_apart(tmp_path: Path) -> None:
    files = {"a": b"12345", "b": b"12345", "c": b"12345", "d": b"12345"}
    library = library_of(tmp_path, model_of(files, NOWHERE))
    write(tmp_path / "tiny", {"b": b"123", "c": b"54321", "d": b"12345"})
    missing, short, damaged = library.verify("tiny")
    assert missing == "a is missing"
    assert short == "b has 3 bytes, not 5"
    assert damaged.startswith("c is damaged")


def test_a_file_changed_since_it_was_last_read_is_read_again(tmp_path: Path) -> None:
    model = model_of(ONE, NOWHERE)
    library = library_of(tmp_path, model)
    folder = write(tmp_path / "tiny", ONE)
    assert library.wanting(model) == ()
    weights = folder / "weights.gguf"
    weights.write_bytes(content(1000, seed=2))
    os.utime(weights, ns=(0, 0))
    assert library.wanting(model) == model.files


def test_a_seal_spares_the_reading_of_an_unchanged_file(tmp_path: Path) -> None:
    model = model_of(ONE, NOWHERE)
    library = library_of(tmp_path, model)
    weights = write(tmp_path / "tiny", ONE) / "weights.gguf"
    assert library.wanting(model) == ()
    before = weights.stat()
    weights.write_bytes(content(1000, seed=2))
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert library.wanting(model) == ()
    assert library.verify("tiny") != ()


def test_spoilt_seals_cost_a_reading_and_nothing_else(tmp_path: Path) -> None:
    model = model_of(ONE, NOWHERE)
    library = library_of(tmp_path, model)
    write(tmp_path / "tiny", ONE | {".seals.json": b"{not json"})
    assert library.wanting(model) == ()


def test_remove_deletes_a_model_and_what_was_half_pulled(tmp_path: Path) -> None:
    library = library_of(tmp_path, model_of(ONE, NOWHERE))
    write(tmp_path / "tiny", ONE | {".partial/weights.gguf.part": b"1"})
    library.remove("tiny")
    assert not (tmp_path / "tiny").exists()
    with pytest.raises(StoreFault, match="is not in"):
        library.remove("tiny")


@pytest.mark.parametrize("name", ["../outside", "..", ".", "", "/etc", "tiny/../../outside"])
def test_remove_refuses_names_that_leave_the_root(tmp_path: Path, name: str) -> None:
    outside = write(tmp_path / "outside", {"precious": b"1"})
    library = library_of(tmp_path / "root", model_of(ONE, NOWHERE))
    with pytest.raises(StoreFault, match="cannot be a model's name"):
        library.remove(name)
    assert (outside / "precious").exists()


def test_remove_of_a_linked_folder_takes_the_link_and_leaves_what_it_points_to(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", ONE)
    library = library_of(tmp_path / "root", model_of(ONE, NOWHERE))
    library.root.mkdir()
    (library.root / "tiny").symlink_to(outside)
    library.remove("tiny")
    assert not (library.root / "tiny").exists()
    assert (outside / "weights.gguf").exists()


def test_remove_refuses_while_the_model_is_being_pulled(tmp_path: Path) -> None:
    library = library_of(tmp_path, model_of(ONE, NOWHERE))
    write(tmp_path / "tiny", ONE)
    with library.lock("tiny", patience_s=0.0), pytest.raises(StoreFault, match="another process"):
        library.remove("tiny")
    assert library.installed() == ("tiny",)


def test_a_lock_is_free_again_after_its_holder_failed(tmp_path: Path) -> None:
    library = library_of(tmp_path, model_of(ONE, NOWHERE))
    with pytest.raises(KeyError), library.lock("tiny", patience_s=0.0):
        raise KeyError
    with library.lock("tiny", patience_s=0.0):
        pass
