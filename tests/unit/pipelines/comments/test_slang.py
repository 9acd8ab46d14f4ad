import random
import time
from collections.abc import Sequence
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LANGUAGES, LanguageTag
from pipelines.comments.slang import Slang, parse_lexicon
from pipelines.spans import Reworded, Span, SpanKind

pytestmark = pytest.mark.unit

_SLANG = Slang.load()
_WITH_SLANG = [tag for tag in LANGUAGES if tag not in ("km", "lo", "my", "zh-Hant-HK")]
_BITS = st.sampled_from(
    [
        "666", "66", "23333", "555", "wkwk", "k", "yyds", "家人们", "上车", "gg", "W", "ฟิน", "ขนมปัง", "ㅋㅋㅋ", "草",
        "mantap", "元", " ", "!", "，", "a", "太", "\u0e4a", "\u0301", "+", "1", "İ",
    ]
)  # fmt: skip
_TEXTS = st.lists(_BITS, max_size=12).map("".join)
_TAGS = st.sampled_from(sorted(LANGUAGES))


def _plain(text: str, language: str, keep: Sequence[Span] = ()) -> str:
    """The text as a model reads it."""
    pieces, done = "", 0
    for part in _SLANG.reworded(text, LanguageTag(language), keep):
        pieces += text[done : part.start] + part.text
        done = part.end
    return pieces + text[done:]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("zh-Hans", "主播yyds！", "主播永远最棒！"),
        ("zh-Hans", "家人们冲鸭", "大家加油"),
        ("zh-Hans", "U1S1真的好看", "说实话真的好看"),
        ("zh-Hans", "想要的扣1", "想要的发1"),
        ("zh-Hans", "疯狂打call", "疯狂应援"),
        ("zh-Hans", "今天涨粉丝了", "今天增加粉丝了"),
        ("zh-Hant", "真的母湯", "真的不可以"),
        ("yue", "呢件好正", "呢件非常好"),
        ("en", "that was sus ngl", "that was suspicious to be honest"),
        ("en", "chef’s kiss", "perfect"),
        ("vi", "shop ơi ib giá", "shop ơi nhắn tin riêng giá"),
        ("vi", "K MUA ĐC", "không MUA được"),
        ("th", "CFค่ะ", "สั่งซื้อค่ะ"),
        ("th", "เพลงนี้ปังมาก", "เพลงนี้ยอดเยี่ยมมาก"),
        ("id", "mantap gan", "bagus sekali kak"),
        ("ms", "sedap giler", "sedap sangat"),
        ("fil", "sana all may jowa", "sana ako rin may kasintahan"),
        ("ja", "この曲ガチで好き", "この曲本当に好き"),
        ("ko", "오늘 방송 꿀잼", "오늘 방송 정말 재미있음"),
    ],
)
def test_slang_is_said_in_plain_words_of_its_own_language(language: str, text: str, expected: str) -> None:
    assert _plain(text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("zh-Hans", "666", "太厉害了"),
        ("zh-Hans", "主播66666啊", "主播太厉害了啊"),
        ("zh-Hans", "233333笑死", "哈哈哈笑死"),
        ("zh-Hans", "666 666", "太厉害了 太厉害了"),
        ("zh-Hans", "666起飞", "太厉害了起飞"),
        ("zh-Hans", "666路人都夸", "太厉害了路人都夸"),
        ("zh-Hans", "买买买666", "买买买太厉害了"),
        ("zh-Hans", "直播间666", "直播间太厉害了"),
        ("th", "เออ55555", "เออฮ่าๆ"),
        ("th", "555+", "ฮ่าๆ"),
        ("id", "wkwkwkw lucu", "haha lucu"),
        ("id", "mantaaap mantappp", "mantaaap bagus sekali"),
        ("vi", "kkkkk", "haha"),
        ("ko", "대단ㅋㅋㅋㅋ", "대단하하"),
        ("ja", "うまいwww", "うまい笑"),
    ],
)
def test_a_run_is_slang_however_long(language: str, text: str, expected: str) -> None:
    assert _plain(text, language) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh-Hans", "66元"),
        ("zh-Hans", "666块"),
        ("zh-Hans", "666 块"),
        ("zh-Hans", "1666"),
        ("zh-Hans", "￥66"),
        ("zh-Hans", "只要66"),
        ("zh-Hans", "66.5"),
        ("zh-Hans", "3.66"),
        ("zh-Hans", "66%"),
        ("zh-Hans", "66-88"),
        ("zh-Hans", "第66集"),
        ("zh-Hans", "扣666分"),
        ("zh-Hans", "￥520"),
        ("zh-Hans", "66路公交"),
        ("zh-Hans", "买66送6"),
        ("zh-Hans", "房间666"),
        ("zh-Hans", "66起"),
        ("zh-Hans", "66到手"),
        ("zh-Hans", "66一件"),
        ("zh-Hans", "66多块"),
        ("zh-Hant", "買 66 送 6"),
        ("th", "5553"),
        ("th", "555 บาท"),
        ("th", "ราคา 555"),
        ("th", "555บ."),
        ("zh-Hant", "百分之 66"),
        ("zh-Hans", "0800 555 111"),
        ("vi", "50 k"),
        ("ja", "888円"),
    ],
)
def test_digits_that_count_or_cost_are_no_slang(language: str, text: str) -> None:
    assert _plain(text, language) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("vi", "check stock"),
        ("vi", "kem khô"),
        ("vi", "vung vãi"),
        ("id", "organ gandum ganti"),
        ("id", "tegang, gan-gan, gan.com"),
        ("ms", "bersepadu"),
        ("ms", "pejompongan gilering"),
        ("en", "eggs suspense trip"),
        ("en", "discord.gg"),
        ("en", "W is a letter"),
        ("zh-Hans", "爸爸在吃土豆"),
        ("zh-Hans", "突破防线"),
        ("zh-Hans", "这种草莓"),
        ("zh-Hans", "我老公屏蔽了你"),
        ("zh-Hans", "这破防晒霜"),
        ("zh-Hans", "老铁锅多少钱"),
        ("zh-Hans", "可爱豆豆鞋"),
        ("zh-Hans", "去水肿么"),
        ("zh-Hans", "等一下播什么"),
        ("zh-Hans", "请大家上车坐好"),
        ("th", "ขนมปังมาก"),
        ("th", "เท่มาก"),
        ("th", "ใจร้ายมาก"),
        ("th", "ตรวจร้านนี้"),
        ("th", "ต้นเฟิน"),
        ("th", "เรตินอยด์"),
        ("th", "ปังปอนด์"),
        ("ja", "ワンチャンス"),
    ],
)
def test_longer_words_are_no_slang(language: str, text: str) -> None:
    assert _plain(text, language) == text


@pytest.mark.parametrize("text", ["上车", "上车！！", "@bob 上车 [doge]"])
def test_a_whole_comment_may_have_names_and_signs_around_it(text: str) -> None:
    keep = [Span(0, 4, SpanKind.NAME), Span(8, 14, SpanKind.EMOTE)] if "@" in text else []
    assert _plain(text, "zh-Hans", keep) == text.replace("上车", "我要买")


def test_a_kept_word_makes_a_comment_more_than_its_slang() -> None:
    text = "L A7M4"
    assert _SLANG.reworded(text, LanguageTag("en"), [Span(2, 6, SpanKind.CODE)]) == ()


def test_the_longest_term_counts() -> None:
    assert _SLANG.reworded("oh gg wp", LanguageTag("en")) == (Reworded(3, 8, "good game, well played"),)


def test_languages_without_a_lexicon_stay_as_they_are() -> None:
    assert [_plain("666 wkwk gg", tag) for tag in ("km", "lo", "my")] == ["666 wkwk gg"] * 3


@given(
    _TEXTS, _TAGS, st.lists(st.tuples(st.integers(-2, 30), st.integers(0, 9), st.sampled_from(SpanKind)), max_size=4)
)
def test_kept_spans_are_neither_touched_nor_reached_across(
    text: str, language: str, places: list[tuple[int, int, SpanKind]]
) -> None:
    keep = [Span(start, start + length, kind) for start, length, kind in places]
    at = 0
    for part in _SLANG.reworded(text, LanguageTag(language), keep):
        assert at <= part.start < part.end <= len(text)
        assert all(span.end <= part.start or part.end <= max(span.start, 0) for span in keep if span.end > span.start)
        at = part.end


@given(_TEXTS, _TAGS)
def test_a_text_kept_as_a_whole_stays_as_it_is(text: str, language: str) -> None:
    assert _plain(text, language, [Span(0, len(text), SpanKind.TERM)]) == text


@given(st.text(max_size=80), _TAGS)
def test_any_text_is_answered(text: str, language: str) -> None:
    found = _SLANG.reworded(text, LanguageTag(language))
    assert found or _plain(text, language) == text


@pytest.mark.parametrize("language", _WITH_SLANG)
def test_every_term_of_a_lexicon_is_found_and_said_without_slang(language: str) -> None:
    content = (files("pipelines.comments") / "lexicons" / f"{language}.tsv").read_text(encoding="utf-8")
    terms = parse_lexicon(language, content)
    assert len(terms) >= 15
    for term in terms:
        assert _plain(term.term, language) == (term.term if term.plain is None else term.plain)
        assert term.plain is None or _plain(term.plain, language) == term.plain, term


@pytest.mark.parametrize("language", _WITH_SLANG)
def test_hostile_comments_take_linear_time(language: str) -> None:
    bits = ("6", "wk", "k", "ha", "6a", "5 ", "ㅋ", "ปัง", "อิ", "家人", "m", "gg ", "w-", "66元", "2 3")
    hostile = [bit * (1_999 // len(bit)) + end for bit in bits for end in ("", "\u0e49", "x")]
    hostile.append("".join(random.Random(7).choices("6wkg5ปังฟ家人们上车mantp ", k=2_000)))
    for text in hostile:
        began = time.perf_counter()
        _plain(text, language)
        assert time.perf_counter() - began < 0.25


@pytest.mark.parametrize(
    ("content", "line", "fault"),
    [
        ("gg\tgood game\n", 1, "tabs"),
        ("# x\n\ngg\t\tword\n", 3, "tabs"),
        ("gg\tgood game\tword\textra\n", 1, "tabs"),
        (" gg\tgood game\tword\n", 1, "tabs"),
        ("gg\tgood game\tsometimes\n", 1, "sometimes"),
        ("gg\tgood game\tword\nGG\tgood\twhole\n", 2, "there already"),
    ],
)
def test_a_bad_line_of_a_lexicon_is_named(content: str, line: int, fault: str) -> None:
    with pytest.raises(ValueError, match=rf"xx\.tsv, line {line}: .*{fault}"):
        parse_lexicon("xx.tsv", content)
