"""app/logs.py"""

import json
from collections.abc import Iterator

import pytest
import structlog

from app import logs

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def settings_of_others() -> Iterator[None]:
    """structlog has one configuration for the process: put it back."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


def test_a_line_is_json_on_standard_error_with_its_level_and_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(json_lines=True)
    structlog.get_logger().warning("room_closed", room="r", cues=3)
    written = capsys.readouterr()
    assert written.out == ""
    line = json.loads(written.err)
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "room_closed", "level": "warning", "room": "r", "cues": 3}


@pytest.mark.parametrize("json_lines", [True, False])
@pytest.mark.parametrize("key", ["text", "source_text", "comment", "author", "token", "secret", "body", "exception"])
def test_words_and_secrets_never_reach_a_line(key: str, json_lines: bool, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(json_lines=json_lines)
    structlog.get_logger().info("seen", **{key: "大家好 secret"})
    written = capsys.readouterr().err
    assert "大家好" not in written
    assert "<10 characters withheld>" in written


def test_debug_lines_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(json_lines=True)
    structlog.get_logger().debug("detail")
    assert capsys.readouterr().err == ""
