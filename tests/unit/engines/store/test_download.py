"""What a pull does around its sources: skip, verify, next source, lock, space, and one clear message."""

import threading
from pathlib import Path

import msgspec
import pytest

from engines.errors import StoreFault
from engines.store.catalogue import FolderOrigin
from engines.store.download import Progress, Pull, pull
from tests.unit.engines.store.builders import content, library_of, model_of, write

pytestmark = pytest.mark.unit

FILES = {"config.json": b"{}", "sub/model.bin": content(3000)}


def test_a_pull_brings_every_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    model = model_of(FILES, FolderOrigin(folder=str(write(tmp_path / "shared", FILES))))
    library = library_of(tmp_path / "root", model)
    assert pull(model, library, lambda progress: None) == library.root / "tiny"
    assert {path.name for path in (library.root / "tiny").iterdir()} == {"config.json", "sub", ".seals.json"}
    assert library.verify("tiny") == ()


def test_a_model_that_is_there_needs_no_source_and_no_lock(tmp_path: Path) -> None:
    model = model_of(FILES, FolderOrigin(folder="/nowhere"))
    library = library_of(tmp_path, model)
    write(tmp_path / "tiny", FILES)
    told: list[Progress] = []
    pull(model, library, told.append)
    assert told == []
    assert not (tmp_path / ".locks").exists()


def test_only_the_damaged_file_is_brought_again(tmp_path: Path) -> None:
    model = model_of(FILES, FolderOrigin(folder=str(write(tmp_path / "shared", FILES))))
    library = library_of(tmp_path / "root", model)
    write(library.root / "tiny", FILES | {"config.json": b"[]"})
    told: list[Progress] = []
    pull(model, library, told.append)
    assert {progress.path for progress in told} == {"config.json"}
    assert library.verify("tiny") == ()


def test_a_wrong_hash_is_deleted_and_the_next_source_tried(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad", FILES | {"sub/model.bin": content(3000, seed=2)})
    good = write(tmp_path / "good", FILES)
    model = model_of(FILES, FolderOrigin(folder=str(bad)), FolderOrigin(folder=str(good)))
    library = library_of(tmp_path / "root", model)
    told: list[Progress] = []
    pull(model, library, told.append)
    assert [(progress.source, progress.path) for progress in told if progress.state == "failed"] == [
        (str(bad), "sub/model.bin")
    ]
    assert library.verify("tiny") == ()
    assert (bad / "sub/model.bin").exists()


def test_where_no_source_has_the_file_one_message_names_all_and_says_what_to_do(tmp_path: Path) -> None:
    wrong = write(tmp_path / "wrong", {"a": b"54321"})
    model = model_of({"a": b"12345"}, FolderOrigin(folder="/nowhere"), FolderOrigin(folder=str(wrong)))
    library = library_of(tmp_path / "root", model)
    with pytest.raises(StoreFault) as failed:
        pull(model, library, lambda progress: None)
    assert "/nowhere: has no a" in failed.value.detail
    assert f"{wrong}: sent another file" in failed.value.detail
    assert "SAMPAN_MODELS" in failed.value.hint
    assert str(library.root) in failed.value.hint


def test_a_source_out_of_reach_is_asked_once_in_a_pull(tmp_path: Path) -> None:
    good = FolderOrigin(folder=str(write(tmp_path / "good", FILES)))
    first = model_of(FILES, FolderOrigin(folder="/nowhere"), good, name="first")
    second = model_of(FILES, FolderOrigin(folder="/nowhere"), good, name="second")
    library = library_of(tmp_path / "root", first, second)
    told: list[Progress] = []
    pulling = Pull(library, told.append)
    pulling.model(first)
    pulling.model(second)
    assert [progress.path for progress in told if progress.state == "failed"] == ["config.json"]


def test_a_second_pull_waits_for_the_first_and_finds_it_done(tmp_path: Path) -> None:
    model = model_of(FILES, FolderOrigin(folder="/nowhere"))
    library = library_of(tmp_path, model)
    waits = threading.Event()
    states: list[str] = []

    def watch(progress: Progress) -> None:
        states.append(progress.state)
        waits.set()

    second = threading.Thread(target=lambda: states.append(str(pull(model, library, watch))))
    with library.lock("tiny", patience_s=0.0):
        second.start()
        assert waits.wait(10)
        write(tmp_path / "tiny", FILES)
    second.join(10)
    assert states == ["waiting", str(tmp_path / "tiny")]


def test_a_non_commercial_model_needs_consent(tmp_path: Path) -> None:
    source = FolderOrigin(folder=str(write(tmp_path / "shared", FILES)))
    model = model_of(FILES, source, non_commercial=True)
    library = library_of(tmp_path / "root", model)
    with pytest.raises(StoreFault) as refused:
        pull(model, library, lambda progress: None)
    assert "--accept-non-commercial" in refused.value.hint
    assert Pull(library, accept_non_commercial=True).model(model) == library.root / "tiny"


def test_too_little_space_is_said_before_anything_is_fetched(tmp_path: Path) -> None:
    model = model_of({"a": b"12345"}, FolderOrigin(folder="/nowhere"))
    huge = msgspec.structs.replace(model.files[0], size_bytes=10**18)
    model = msgspec.structs.replace(model, files=(huge,))
    told: list[Progress] = []
    with pytest.raises(StoreFault, match="GB are free"):
        pull(model, library_of(tmp_path, model), told.append)
    assert told == []


def test_a_root_that_cannot_be_written_is_a_clear_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    model = model_of(FILES, FolderOrigin(folder="/nowhere"))
    with pytest.raises(StoreFault, match="cannot write to"):
        pull(model, library_of(tmp_path / "file" / "root", model), lambda progress: None)
