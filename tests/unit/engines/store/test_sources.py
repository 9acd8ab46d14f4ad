"""The folder source; web servers and wheels are tested against real ones in tests/integration."""

from pathlib import Path

import pytest

from engines.store.catalogue import FolderOrigin, HttpsOrigin
from engines.store.sources import FolderSource, Patience, SourceFailed, open_source
from tests.unit.engines.store.builders import content, model_of, write

pytestmark = pytest.mark.unit

FILES = {"weights.gguf": content(1000)}
MODEL = model_of(FILES, FolderOrigin(folder="/nowhere"))


def test_a_folder_on_the_same_disk_is_linked_and_takes_no_space(tmp_path: Path) -> None:
    folder, part = write(tmp_path / "shared", FILES), tmp_path / "weights.part"
    part.write_bytes(b"half of something")
    told: list[int] = []
    FolderSource(folder).fetch(MODEL.files[0], part, told.append)
    assert part.samefile(folder / "weights.gguf")
    assert told == [1000]


def test_a_folder_that_is_not_there_is_unreachable_one_without_the_file_is_not(tmp_path: Path) -> None:
    with pytest.raises(SourceFailed) as gone:
        FolderSource(tmp_path / "gone").fetch(MODEL.files[0], tmp_path / "part", print)
    with pytest.raises(SourceFailed) as empty:
        FolderSource(tmp_path).fetch(MODEL.files[0], tmp_path / "part", print)
    assert (gone.value.unreachable, empty.value.unreachable) == (True, False)


def test_a_file_of_another_size_is_refused_before_it_is_copied(tmp_path: Path) -> None:
    folder = write(tmp_path / "shared", {"weights.gguf": b"short"})
    with pytest.raises(SourceFailed, match="has 5 bytes, not 1,000"):
        FolderSource(folder).fetch(MODEL.files[0], tmp_path / "part", print)
    assert not (tmp_path / "part").exists()


def test_a_web_source_is_known_by_its_host_without_credentials(tmp_path: Path) -> None:
    source = open_source(HttpsOrigin(files_url="https://user:secret@models.example:8443/x"), tmp_path, Patience())
    assert source.name == "models.example:8443"
    source.close()
