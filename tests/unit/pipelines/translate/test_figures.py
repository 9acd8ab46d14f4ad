import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LANGUAGES, LanguageTag
from pipelines.translate.figures import find_prices, say_price

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("source", "text", "said"),
    [
        ("zh-Hans", "这个99元包邮吗", {"en": "99 yuan", "vi": "99 tệ", "th": "99 หยวน", "id": "99 yuan"}),
        ("zh-Hans", "9块9包邮", {"en": "9.9 yuan", "vi": "9,9 tệ"}),
        ("zh-Hans", "5万元", {"en": "50,000 yuan", "id": "50.000 yuan"}),
        ("zh-Hans", "￥1,299.50", {"en": "1299.50 yuan"}),
        ("zh-Hant", "100塊", {"en": "100 yuan"}),
        ("yue", "88蚊", {"en": "88 Hong Kong dollars"}),
        ("vi", "giá 50k thôi", {"en": "50,000 dong", "zh-Hans": "50,000越南盾"}),
        ("vi", "1.299.000đ", {"en": "1,299,000 dong", "th": "1,299,000 ดอง"}),
        ("id", "harga 99rb", {"en": "99,000 rupiah"}),
        ("id", "Rp 1,5 juta", {"en": "1,500,000 rupiah", "vi": "1.500.000 rupiah"}),
        ("th", "ราคา 199 บาท", {"en": "199 baht", "zh-Hans": "199泰铢"}),
        ("th", "ราคา 199 บาทค่ะ", {"zh-Hans": "199泰铢"}),
        ("ms", "RM12.50", {"en": "12.50 ringgit", "zh-Hans": "12.50令吉"}),
        ("en", "HK$88", {"zh-Hans": "88港币"}),
        ("ja", "¥500", {"en": "500 yen"}),
        ("en", "39 baht only", {"km": "39 baht"}),
    ],
)
def test_a_price_is_said_with_its_amount_and_its_currency(source: str, text: str, said: dict[str, str]) -> None:
    (span,) = find_prices(text, LanguageTag(source))
    for target, expected in said.items():
        assert say_price(text[span.start : span.end], LanguageTag(source), LanguageTag(target)) == expected


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("zh-Hans", "给我3块蛋糕"),
        ("zh-Hans", "第3元素"),
        ("zh-Hans", "666"),
        ("vi", "50k view rồi"),
        ("en", "team 3 won"),
        ("en", "only $39"),
        ("en", "50k subs"),
        ("en", "at 3:30"),
        ("id", "99 orang"),
    ],
)
def test_what_is_no_price_is_none(source: str, text: str) -> None:
    assert find_prices(text, LanguageTag(source)) == ()


@given(st.integers(1, 10**8), st.sampled_from(sorted(LANGUAGES)))
def test_no_figure_of_an_amount_is_lost(amount: int, target: LanguageTag) -> None:
    said = say_price(f"{amount}元", LanguageTag("zh-Hans"), target)
    assert "".join(filter(str.isdigit, said)) == str(amount)


@pytest.mark.parametrize("piece", ["1", "1.", "1k ", "RM", "1,111", "9块"])
def test_hostile_text_takes_no_time(piece: str) -> None:
    text = (piece * 2000)[:2000]
    began = time.process_time()
    find_prices(text, LanguageTag("vi"))
    assert time.process_time() - began < 0.5
