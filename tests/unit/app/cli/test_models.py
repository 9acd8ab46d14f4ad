"""`sampan models` as its user sees it."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from app.cli.models import models, pull_with_progress
from engines.store.catalogue import FolderOrigin, load_catalogue
from tests.unit.engines.store.builders import content, library_of, model_of, write

pytestmark = pytest.mark.unit

FILES = {"config.json": b"{}", "model.bin": content(3000)}
DEFAULTS = load_catalogue().defaults


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAMPAN_MODELS", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def test_list_shows_each_model_with_licence_size_and_that_it_is_not_here(root: Path) -> None:
    shown = CliRunner().invoke(models, ["list"])
    assert shown.exit_code == 0
    row = next(line for line in shown.output.splitlines() if DEFAULTS.asr in line)
    assert all(word in row for word in ("ASR", "MIT", "148 MB", "no", "(default)"))


@pytest.mark.parametrize("command", ["pull", "verify", "rm"])
@pytest.mark.parametrize("name", ["nosuch", "../x"])
def test_a_wrong_name_is_one_clear_message_and_exit_code_1(root: Path, command: str, name: str) -> None:
    refused = CliRunner().invoke(models, [command, name])
    assert refused.exit_code == 1
    assert "error:" in refused.output
    assert name in refused.output
    assert "Traceback" not in refused.output


def test_verify_of_a_missing_model_says_what_is_missing_and_fails(root: Path) -> None:
    checked = CliRunner().invoke(models, ["verify", DEFAULTS.mt])
    assert checked.exit_code == 1
    assert "is missing" in checked.output
    assert "sampan models pull" in checked.output


def test_verify_without_names_checks_what_is_here(root: Path) -> None:
    assert CliRunner().invoke(models, ["verify"]).exit_code == 0


def test_rm_deletes_a_model(root: Path) -> None:
    write(root / DEFAULTS.asr, FILES)
    assert CliRunner().invoke(models, ["rm", DEFAULTS.asr]).exit_code == 0
    assert not (root / DEFAULTS.asr).exists()


def test_a_pull_shows_each_file_its_source_that_failed_and_that_it_is_verified(tmp_path: Path) -> None:
    good = str(write(tmp_path / "good", FILES))
    model = model_of(FILES, FolderOrigin(folder="/nowhere"), FolderOrigin(folder=good))
    library = library_of(tmp_path / "root", model)
    screen = io.StringIO()
    paths = pull_with_progress(["tiny"], Console(file=screen, width=120), library=library)
    assert paths == {"tiny": library.root / "tiny"}
    shown = screen.getvalue()
    assert shown.count("/nowhere") == 1
    assert all(path in shown for path in FILES)
    assert shown.count("verified") == len(FILES)


def test_a_pull_of_what_is_here_shows_nothing(tmp_path: Path) -> None:
    model = model_of(FILES, FolderOrigin(folder="/nowhere"))
    library = library_of(tmp_path, model)
    write(tmp_path / "tiny", FILES)
    screen = io.StringIO()
    pull_with_progress(["tiny"], Console(file=screen), library=library)
    assert screen.getvalue() == ""


def test_pull_for_languages_brings_the_best_that_can_be_had(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = root / "held"
    write(held, FILES)
    offered = [
        model_of(FILES, FolderOrigin(folder=str(root / "gone")), name="best", scores={"zh-Hans>en": 30.0}),
        model_of(FILES, FolderOrigin(folder=str(held)), name="good", scores={"zh-Hans>en": 20.0}),
        model_of(FILES, FolderOrigin(folder=str(held)), name="any", scores={"*": 5.0}),
        model_of(FILES, FolderOrigin(folder=str(held)), name="other", scores={"en>vi": 40.0}),
    ]
    library = library_of(root / "library", *offered)
    monkeypatch.setattr("app.cli.models.Library", lambda: library)
    pulled = CliRunner().invoke(models, ["pull", "--for", "zh,en"])
    assert pulled.exit_code == 0, pulled.output
    assert "not to be had: best" in pulled.output
    assert library.installed() == ("good", "any")
    assert CliRunner().invoke(models, ["pull", "--for", "zh,xx"]).exit_code == 2
