import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comments.privacy import find_personal
from pipelines.spans import SpanKind

pytestmark = pytest.mark.unit


def found(text: str) -> list[tuple[str, SpanKind]]:
    return [(text[span.start : span.end], span.kind) for span in find_personal(text)]


def resident(first: str) -> str:
    """A resident identity number with its check digit, from its first seventeen."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(digit) * weight for digit, weight in zip(first, weights, strict=True))
    return first + "10X98765432"[total % 11]


def card(first: str) -> str:
    """A card number with its Luhn digit."""
    for last in "0123456789":
        digits = [int(digit) for digit in first + last]
        odd = sum(digits[-1::-2])
        even = sum(digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2])
        if (odd + even) % 10 == 0:
            return first + last
    raise AssertionError


def hong_kong(letter: str, digits: str) -> str:
    """A Hong Kong identity card's number with its check digit in brackets."""
    values = [36, ord(letter) - 55, *map(int, digits)]
    check = (11 - sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True)) % 11) % 11
    return f"{letter}{digits}({'A' if check == 10 else check})"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("加我13812345670谢谢", "13812345670"),
        ("138 1234 5670", "138 1234 5670"),
        ("call 138-1234-5670", "138-1234-5670"),
        ("010-62345678", "010-62345678"),
        ("+86 13812345670", "+86 13812345670"),
        ("+852 9123 4567", "+852 9123 4567"),
        ("9123 4567 whatsapp", "9123 4567"),
        ("電話：91234567", "91234567"),
        ("โทร 081-234-5678", "081-234-5678"),
        ("+66 81 234 5678", "+66 81 234 5678"),
        ("0912345678", "0912345678"),
        ("gọi 0912 345 678 nhé", "0912 345 678"),
        ("+84912345678", "+84912345678"),
        ("WA 081234567890", "081234567890"),
        ("+62 812-3456-7890", "+62 812-3456-7890"),
        ("012-345 6789", "012-345 6789"),
        ("+60123456789", "+60123456789"),
        ("+65 9123 4567", "+65 9123 4567"),
    ],
)
def test_phone_numbers_of_the_services_countries_are_found(text: str, number: str) -> None:
    assert found(text) == [(number, SpanKind.PHONE)]


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("微信号abc_12345", "abc_12345"),
        ("加v信：host8866", "host8866"),
        ("vx: xiaoyu2024", "xiaoyu2024"),
        ("QQ 12345678", "12345678"),
        ("line id: somchai99", "somchai99"),
        ("LINE: @shop99x", "shop99x"),
        ("ig @nana_99", "nana_99"),
    ],
)
def test_a_handle_after_the_name_of_its_messenger_is_found(text: str, handle: str) -> None:
    assert found(text) == [(handle, SpanKind.HANDLE)]


def test_mail_addresses_are_found() -> None:
    assert found("发到abc.d+x@mail.example.com吧") == [("abc.d+x@mail.example.com", SpanKind.EMAIL)]


@pytest.mark.parametrize(
    "text",
    [
        "23333333", "666666", "88888888", "11111111111", "1,299,000đ", "199.000", "2024-05-01", "12:30", "3-2",
        "1000000", "520 1314", "BV1xx411c7mD", "1920x1080", "order 12345678", "2024 2025", "QQ群很多", "line is long",
        "whatsapp me", "wechat payment ok", "line up guys", "0812", "¥13812345670",
    ],
)  # fmt: skip
def test_what_only_looks_like_personal_data_is_left(text: str) -> None:
    assert found(text) == []


DIGITS = st.text("0123456789", min_size=3, max_size=3)


@given(st.dates(), DIGITS, st.sampled_from(["110105", "440305", "350203"]))
def test_a_resident_number_is_found_by_its_check_digit_and_not_without(date: object, serial: str, place: str) -> None:
    day = str(date).replace("-", "")
    number = resident(place + "19" + day[2:] + serial)
    assert found(f"证件{number}，谢谢") == [(number, SpanKind.ID_NUMBER)]
    other = "0" if number[-1] != "0" else "1"
    assert (number[:-1] + other, SpanKind.ID_NUMBER) not in found(f"证件{number[:-1]}{other}，谢谢")


@given(st.text("0123456789", min_size=14, max_size=14).filter(lambda digits: len(set(digits)) > 3))
def test_a_card_is_found_by_its_luhn_digit_in_groups_or_not(digits: str) -> None:
    number = card("4" + digits)
    grouped = " ".join(number[at : at + 4] for at in range(0, 16, 4))
    for text in (number, grouped):
        assert (text, SpanKind.CARD) in found(f"卡号 {text} 谢谢")
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert SpanKind.CARD not in [kind for _, kind in found(wrong)]


@given(st.sampled_from("ABCKMPYZ"), st.text("0123456789", min_size=6, max_size=6))
def test_a_hong_kong_identity_card_is_found_by_its_check_digit(letter: str, digits: str) -> None:
    number = hong_kong(letter, digits)
    assert found(f"身份證 {number}") == [(number, SpanKind.ID_NUMBER)]
    assert found(number.replace("(", "").replace(")", "")) == [(f"{number[:-3]}{number[-2]}", SpanKind.ID_NUMBER)]


@pytest.mark.parametrize("piece", ["1", "1 ", "a@", "a.", "+86", "qq", "微信", "電話1", "4111 ", "A1"])
def test_hostile_text_takes_no_time(piece: str) -> None:
    began = time.process_time()
    find_personal((piece * 2000)[:2000])
    assert time.process_time() - began < 0.5
