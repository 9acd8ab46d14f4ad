"""app/settings.py"""

from pathlib import Path

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
def test_a_value_out_of_bounds_is_refused_with_what_is_allowed(key: str, value: object, part: str) -> None:
    found = "\n".join(problems(**{key: value}))
    assert part in found
    assert key.replace("__", ".") in found


def test_a_host_beyond_loopback_needs_a_secret() -> None:
    (problem,) = problems(server__host="0.0.0.0")
    assert "server.host" in problem
    assert "auth.secret" in problem
    assert load(None, {"SAMPAN_AUTH_SECRET": SECRET}, {"server.host": "0.0.0.0"}).auth.secret == SECRET


@pytest.mark.parametrize("value", [SECRET[:31], "x"])
def test_a_secret_is_never_shown(value: str) -> None:
    assert value not in "\n".join(problems(environment={"SAMPAN_AUTH_SECRET": value})).replace("x86", "")


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
