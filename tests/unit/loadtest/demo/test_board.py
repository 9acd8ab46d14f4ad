"""The terminal's lines."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from loadtest.demo.board import Board, line
from loadtest.frames import Cue

pytestmark = pytest.mark.unit


def _cue(text: str, source_text: str, **fields: object) -> Cue:
    usual = {"seq": 1, "id": "a", "revision": 0, "final": True, "kind": "comment", "lang": "zh-Hans"}
    return Cue(text=text, source_text=source_text, source_lang="vi", **(usual | fields))


def test_a_line_tells_time_kind_pair_wait_and_both_texts() -> None:
    shown = line(_cue("多少钱？", "Giá bao nhiêu?", author="Linh"), 83.4, 0.4021).plain
    assert shown == "01:23 comment vi→zh-Hans          402 ms Linh: Giá bao nhiêu? → 多少钱？"


def test_a_text_that_was_not_translated_says_why() -> None:
    assert (
        "(not translated: deadline)" in line(_cue("a", "a", flags=("untranslated",), reason="deadline"), 0, None).plain
    )


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in line(_cue("\x1b[2Jx", "y", author="\x07"), 0.0, None).plain


def test_on_a_terminal_every_cue_is_one_line_however_wide_its_signs() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=60, color_system=None)
    with Board(console, 0.0) as board:
        board.cue(_cue("哈" * 80, "w" * 200), 1.0, 0.5)
    written = [part for part in out.getvalue().splitlines() if "comment" in part]
    assert len(written) == 1
    assert cell_len(written[0].rpartition("\r")[2]) <= 60 + 20  # some of it is control sequences


def test_elsewhere_lines_are_whole_and_partials_left_out() -> None:
    out = io.StringIO()
    with Board(Console(file=out, width=60), 0.0) as board:
        board.cue(_cue("哈" * 80, "w" * 200), 1.0, 0.5)
        board.cue(_cue("", "half", kind="speech", final=False, flags=("pending",)), 1.0, 0.5)
    assert out.getvalue().count("\n") == 1
    assert "哈" * 80 in out.getvalue()
