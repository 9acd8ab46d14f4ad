from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LanguageTag
from engines.lid.han import is_simplified_only
from pipelines.translate.chinese import to_script

pytestmark = pytest.mark.unit

_HANS, _HANT, _YUE = LanguageTag("zh-Hans"), LanguageTag("zh-Hant"), LanguageTag("yue")


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("視頻軟件後面的頭髮", _HANS, "视频软件后面的头发"),
        ("视频软件后面的头发", _HANT, "影片軟體後面的頭髮"),
        ("视频软件后面的头发", _YUE, "視頻軟件後面的頭髮"),
        ("视频软件后面的头发", LanguageTag("zh-Hant-HK"), "視頻軟件後面的頭髮"),
        ("这里面很卫生", _YUE, "這裏面很衞生"),
        ("后面", _HANT, "後面"),
        ("皇后的頭髮", _HANT, "皇后的頭髮"),
        ("这個东西很好", _HANT, "這個東西很好"),
        ("鍾意食呢個", _YUE, "鍾意食呢個"),
        ("😂 666 [doge]", _HANT, "😂 666 [doge]"),
    ],
)
def test_text_is_brought_into_the_targets_script(text: str, target: LanguageTag, expected: str) -> None:
    assert to_script(text, target) == expected


@pytest.mark.parametrize("target", ["en", "ja", "ko"])
def test_text_for_other_targets_is_left_alone(target: str) -> None:
    assert to_script("国 學 hello", LanguageTag(target)) == "国 學 hello"


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF, codec="gb2312"), max_size=20))
def test_traditional_text_has_no_simplified_form_left(text: str) -> None:
    left = [character for character in to_script(text, _HANT) if is_simplified_only(character)]
    assert all(to_script(character, _HANT) == character for character in left)  # these have no other form


def test_converters_answer_from_several_threads_at_once() -> None:
    with ThreadPoolExecutor(4) as threads:
        answers = set(threads.map(lambda _: to_script("这个头发", _HANT), range(200)))
    assert answers == {"這個頭髮"}
