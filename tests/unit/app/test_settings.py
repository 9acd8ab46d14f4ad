"""app/settings.py"""

from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings, SettingsError, is_loopback, load

pytestmark = pytest.mark.unit

SECRET = "0123456789abcdef0123456789abcdef"


def problems(
    text: str = "", environment: dict[str, str] | None = None, folder: Path | None = None, **flags: object
) -> list[str]:
    file = None
    if folder is not None:
        file = folder / "sampan.toml"
        file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as wrong:
        load(file, environment or {}, {key.replace("__", "."): value for key, value in flags.items()})
    return wrong.value.problems


def test_nothing_given_means_the_defaults() -> None:
    assert load(None, {}, {"server.port": None}) == Settings()


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "sampan.toml"
    file.write_text('[server]\nport = 1001\nhost = "::1"\nmax_rooms = 7\n')
    environment = {"SAMPAN_SERVER_PORT": "1002", "SAMPAN_SERVER_MAX_ROOMS": "8"}
    server = load(file, environment, {"server.port": 1003}).server
    assert (server.port, server.max_rooms, server.host) == (1003, 8, "::1")


def test_the_environment_reaches_every_level_and_lists_are_split_at_commas() -> None:
    settings = load(
        None,
        {
            "SAMPAN_SPEECH_ENDPOINTING_THRESHOLD": "0.7",
            "SAMPAN_SERVER_ORIGINS": "https://a.example,https://b.example",
            "SAMPAN_MODELS": "/models",
        },
        {},
    )
    assert settings.speech.endpointing.threshold == 0.7
    assert settings.server.origins == ("https://a.example", "https://b.example")
    assert settings.models.folder == "/models"


def test_every_wrong_setting_is_named_at_once_with_its_value(tmp_path: Path) -> None:
    text = '[server]\nport = "many"\nhots = "x"\n[models]\nmt_slots = 1.5\n[nonsense]\na = 1\n'
    found = "\n".join(problems(text, folder=tmp_path))
    for part in ("server.port = 'many'", "server.hots", "models.mt_slots = 1.5", "nonsense"):
        assert part in found


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("server__port", 70_000, "0 to 65535"),
        ("server__port", -1, "0 to 65535"),
        ("server__max_rooms", 0, "1 and more"),
        ("models__mt_slots", 0, "1 to 256"),
        ("models__cores", -1, "0 to 256"),
        ("auth__secret", "short", "32 and more"),
        ("speech__endpointing", {"threshold": 7}, "speech.endpointing"),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_what_is_allowed(key: str, value: Any, part: str) -> None:
    found = "\n".join(problems(**{key: value}))
    assert part in found
    assert key.replace("__", ".") in found


def test_a_host_beyond_loopback_needs_a_secret() -> None:
    (problem,) = problems(server__host="0.0.0.0")
    assert "server.host" in problem
    assert "auth.secret" in problem
    assert load(None, {"SAMPAN_AUTH_SECRET": SECRET}, {"server.host": "0.0.0.0"}).auth.secret == SECRET


def test_wrong_values_of_nested_sections_are_each_named_with_what_is_allowed(tmp_path: Path) -> None:
    text = '[speech.endpointing]\nthreshold = 7\npause_s = "long"\n[speech]\nclosing = 0\n[translator]\nbackfill = -1\n'
    found = problems(text, folder=tmp_path)
    for part in ("speech.endpointing.threshold = 7", "speech.endpointing.pause_s = 'long'", "speech.closing = 0"):
        assert any(line.startswith(part) for line in found)
    assert any("translator.backfill = -1" in line and ">= 0" in line for line in found)


def test_values_of_the_wrong_type_and_values_out_of_bounds_are_named_at_once() -> None:
    environment = {"SAMPAN_SERVER_PORT": "many", "SAMPAN_AUTH_SECRET": "short", "SAMPAN_MODELS_CORES": "-1"}
    found = "\n".join(problems(environment=environment))
    for part in ("server.port = 'many'", "auth.secret", "models.cores = -1"):
        assert part in found


@pytest.mark.parametrize("value", ["nan", "-1", "0", "inf"])
def test_a_duration_that_is_none_is_refused(value: str) -> None:
    (problem,) = problems(environment={"SAMPAN_TRANSLATOR_COMMENT_DEADLINE_S": value})
    assert problem.startswith(f"translator.comment_deadline_s = '{value}'")


@pytest.mark.parametrize("name", ["SAMPAN_SERVER_PROT", "SAMPAN_SPEECH_ENDPOINTING_TRESHOLD", "SAMPAN_ROOMS_ROOM"])
def test_a_variable_of_a_section_that_names_no_setting_is_refused(name: str) -> None:
    (problem,) = problems(environment={name: "1"})
    assert problem.startswith(f"{name}: no such setting")


def test_other_variables_are_none_of_ours_and_an_empty_list_is_empty() -> None:
    environment = {"SAMPAN_TOKEN": "x", "PATH": "/bin", "SAMPAN_SERVER_ORIGINS": "", "SAMPAN_MODELS": "/m"}
    assert load(None, environment, {}).server.origins == ()


@pytest.mark.parametrize("text", ["server = 5", "rooms = 5", "speech = []", "server.port = [1]"])
def test_a_value_where_a_section_belongs_is_named(tmp_path: Path, text: str) -> None:
    environment = {"SAMPAN_SERVER_HOST": "::1", "SAMPAN_SPEECH_STALL_S": "1"}
    (problem,) = problems(text, environment, folder=tmp_path)
    assert problem.startswith(text)


@pytest.mark.parametrize("text", [f'auth = "{SECRET}"', f'[auth]\nsecret = ["{SECRET}"]', f'[auth]\nkey = "{SECRET}"'])
def test_a_secret_is_not_shown_where_it_stands_wrong_either(tmp_path: Path, text: str) -> None:
    assert SECRET not in "\n".join(problems(text, folder=tmp_path))


def test_a_secret_that_is_too_short_is_not_shown() -> None:
    assert SECRET[:31] not in "\n".join(problems(environment={"SAMPAN_AUTH_SECRET": SECRET[:31]}))


def test_rooms_of_the_file_are_checked(tmp_path: Path) -> None:
    text = '[[rooms]]\nroom = "a/b"\nsources = ["xx"]\ntier = "gold"\n'
    found = "\n".join(problems(text, folder=tmp_path))
    for part in ("'a/b'", "'xx'", "'gold'"):
        assert part in found


@pytest.mark.parametrize("text", ["not toml at all [", "\udcff"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SettingsError, match=r"bad\.toml"):
        load(file, {}, {})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.toml"):
        load(tmp_path / "absent.toml", {}, {})


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
        ("127.0.0.1.example.org", False),
    ],
)
def test_loopback_is_told_from_the_rest(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
