"""The viewer page against a server that says what each test wants."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.browser


def _room(server: ScriptedServer, open_page: OpenPage, lang: str = "zh-Hans", **options: object) -> Page:
    page = open_page(f"{server.url}/r/demo?lang={lang}", **options)
    _wait_open(page)
    return page


def _wait_open(page: Page) -> None:
    expect(page.locator("body")).to_have_attribute("data-connection", "open", timeout=15_000)


def _count(server: ScriptedServer, kind: str) -> int:
    return sum(joined == kind for joined, _ in server.joins)


def test_the_final_replaces_the_partial_and_what_was_said_comes_first(
    server: ScriptedServer, open_page: OpenPage
) -> None:
    page = _room(server, open_page)
    current, original = page.locator("#current"), page.locator("#original")
    server.cue("s1", "zh-Hans", "", "Hello", final=False, flags=["pending"])
    expect(original).to_have_text("Hello")
    expect(current).to_have_text("")
    server.cue("s1", "zh-Hans", "你好", "Hello every", revision=1, final=False)
    expect(current).to_have_text("你好")
    expect(current).to_have_class(re.compile("partial"))
    server.cue("s1", "zh-Hans", "大家好", "Hello everyone", revision=2)
    server.cue("s1", "zh-Hans", "旧的", "old", revision=1, final=False)
    expect(current).to_have_text("大家好")
    expect(current).not_to_have_class(re.compile("partial"))
    expect(current).to_have_attribute("lang", "zh-Hans")
    expect(original).to_have_attribute("lang", "en")
    expect(page.locator("#said")).to_have_text("大家好")


def test_a_retracted_partial_goes_away(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _room(server, open_page)
    server.cue("s1", "zh-Hans", "你好", "Hello", final=False)
    expect(page.locator("#current")).to_have_text("你好")
    server.say(type="cue.retract", id="s1")
    expect(page.locator("#current")).to_have_text("")


def test_a_comment_shows_its_original_on_demand(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _room(server, open_page)
    server.cue("c1", "zh-Hans", "多少钱？", "Giá bao nhiêu?", kind="comment", author="Linh", source_lang="vi")
    row = page.locator("#comments li")
    expect(row.locator(".text")).to_have_text("多少钱？")
    expect(row.locator(".text")).to_have_attribute("lang", "zh-Hans")
    expect(row.locator(".source")).to_be_hidden()
    row.get_by_role("button", name="Original").click()
    expect(row.locator(".source")).to_have_text("Giá bao nhiêu?")
    expect(row.locator(".source")).to_have_attribute("lang", "vi")


def test_markup_in_comments_and_names_stays_text(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _room(server, open_page)
    evil = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
    server.cue("c1", "zh-Hans", evil, "x", kind="comment", author="<b>bold</b>", source_lang="en")
    server.cue("s1", "zh-Hans", evil, evil)
    expect(page.locator("#comments .text")).to_have_text(evil)
    expect(page.locator("#comments .author")).to_have_text("<b>bold</b>")
    expect(page.locator("#current")).to_have_text(evil)
    assert page.locator("#comments img, #comments script, #comments b, #subtitles img").count() == 0
    expect(page).to_have_title("demo · Sampan")


def test_a_lost_connection_is_resumed_with_nothing_twice_and_nothing_missing(
    server: ScriptedServer, open_page: OpenPage
) -> None:
    page = _room(server, open_page)
    server.cue("c1", "zh-Hans", "一", "one", kind="comment")
    expect(page.locator("#comments li")).to_have_count(1)
    server.drop()
    expect(page.locator("#note")).to_contain_text("Coming back")
    server.cue("c2", "zh-Hans", "二", "two", kind="comment")
    _wait_open(page)
    server.cue("c3", "zh-Hans", "三", "three", kind="comment")
    expect(page.locator("#comments .text")).to_have_text(["一", "二", "三"])
    assert server.joins[-1][1]["resume_from"] == "e1:1"
    expect(page.locator("#note")).to_be_hidden()


def test_events_are_used_where_sockets_fail_twice(server: ScriptedServer, open_page: OpenPage) -> None:
    server.sockets_blocked = True
    page = _room(server, open_page)
    server.cue("s1", "zh-Hans", "大家好", "Hello everyone")
    expect(page.locator("#current")).to_have_text("大家好")
    assert _count(server, "blocked") == 2


def test_what_many_write_shows_how_many_and_what_is_as_written_says_why(
    server: ScriptedServer, open_page: OpenPage
) -> None:
    page = _room(server, open_page)
    server.cue("c1", "zh-Hans", "唱首歌", "sing a song", kind="comment")
    expect(page.locator("#comments .count")).to_be_hidden()
    server.cue("c1", "zh-Hans", "唱首歌", "sing a song", kind="comment", revision=1, count=12)
    expect(page.locator("#comments .count")).to_have_text("×12")
    late = {"kind": "comment", "flags": ["untranslated"], "reason": "queue_full"}
    server.cue("c2", "zh-Hans", "hello", "hello", **late)
    expect(page.locator("#comments .text").last).to_have_attribute("title", "Not translated: queue full")


def test_another_language_starts_clean_and_is_remembered(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _room(server, open_page)
    server.cue("c1", "zh-Hans", "一", "one", kind="comment")
    picker = page.get_by_label("Language")
    expect(picker.locator("option")).to_have_text(["English", "简体中文", "ไทย", "Tiếng Việt", "ខ្មែរ"])
    picker.select_option("th")
    expect(page.locator("#comments li")).to_have_count(0)
    _wait_open(page)
    server.cue("s1", "th", "สวัสดีทุกคน", "Hello everyone")
    expect(page.locator("#current")).to_have_text("สวัสดีทุกคน")
    expect(page).to_have_url(re.compile(r"lang=th"))
    page.goto(f"{server.url}/r/demo")
    expect(page.get_by_label("Language")).to_have_value("th")


def test_the_token_leaves_the_address_and_survives_a_reload(server: ScriptedServer, open_page: OpenPage) -> None:
    page = open_page(f"{server.url}/r/demo?lang=en#token=abc.def")
    _wait_open(page)
    assert "abc.def" not in page.url
    page.reload()
    _wait_open(page)
    assert [query["token"] for _, query in server.joins if "token" in query][-1] == "abc.def"


def test_an_unknown_language_falls_back_to_english(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _room(server, open_page, lang="tlh")
    expect(page.get_by_label("Language")).to_have_value("en")


def test_a_closed_room_is_said_plainly_and_not_asked_for_again(server: ScriptedServer, open_page: OpenPage) -> None:
    page = open_page(f"{server.url}/r/elsewhere?lang=en")
    expect(page.locator("#note")).to_have_text("This room is not open.")
    expect(page.locator("body")).to_have_attribute("data-connection", "refused")


def test_the_latency_is_told_on_the_servers_clock(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _room(server, open_page)
    server.cue("s1", "zh-Hans", "大家好", "Hello", ledger={"captured": round(time.time() * 1000) - 1500})
    expect(page.locator("#latency")).to_have_text(re.compile(r"1\.[5-9] s"))


def test_a_room_that_is_not_kept_up_with_says_so(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _room(server, open_page)
    expect(page.locator("#live")).to_have_text("Waiting")
    for frame, said in (
        ({"ingest": "live"}, "Live"),
        ({"ingest": "live", "load": "strained"}, "Live, busy"),
        ({"ingest": "live"}, "Live"),
        ({"ingest": "idle"}, "Waiting"),
    ):
        server.say(type="state", **frame)
        expect(page.locator("#live")).to_have_text(said)


def test_a_long_list_keeps_only_the_newest_comments(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _room(server, open_page)
    for number in range(230):
        server.cue(f"c{number}", "zh-Hans", f"第{number}条", f"line {number}", kind="comment", author="A")
    expect(page.locator("#comments li").last).to_contain_text("第229条")
    expect(page.locator("#comments li")).to_have_count(200)
    assert page.evaluate("() => { const e = comments; return e.scrollHeight - e.scrollTop - e.clientHeight < 2; }")


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_fits_and_is_pictured(
    server: ScriptedServer, open_page: OpenPage, pictures: Path, width: int, dark: bool
) -> None:
    page = _room(server, open_page, width=width, dark=dark)
    server.say(type="state", ingest="live")
    for number, (author, lang, source, text) in enumerate(_CHAT):
        server.cue(f"c{number}", "zh-Hans", text, source, kind="comment", author=author, source_lang=lang)
    server.cue("s1", "zh-Hans", "大家好，欢迎回到我们的节目。", "Hello everyone, and welcome back.", start=1, end=3)
    server.cue(
        "s2", "zh-Hans", "今天给大家看看我们的新电热水壶。", "Today I want to show you our kettle.", start=4, end=6
    )
    server.cue("c99", "zh-Hans", "哈" * 80, "w" * 500, kind="comment", author="long", source_lang="en")
    expect(page.locator("#comments li")).to_have_count(len(_CHAT) + 1)
    page.evaluate("() => document.fonts.ready")
    page.screenshot(path=str(pictures / f"room-{width}-{'dark' if dark else 'light'}.png"))
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    box = page.locator("#current").bounding_box()
    stage = page.locator(".stage").bounding_box()
    assert box is not None
    assert stage is not None
    assert box["y"] + box["height"] <= stage["y"] + stage["height"]


_CHAT = [
    ("Linh", "vi", "Hôm nay có giảm giá không shop?", "今天有打折吗？"),
    ("ต้นไม้", "th", "สวัสดีครับ มารอแล้ว", "你好，我来等了"),
    ("Sari", "id", "Halo kak, hari ini jual apa?", "哈喽，今天卖什么？"),
    ("阿强", "zh-Hans", "今天有优惠吗?", "今天有优惠吗?"),
    ("Kevin", "en", "good evening from Manchester", "曼彻斯特的朋友晚上好"),
    ("Aisyah", "ms", "Dah lama tunggu ni", "等了好久了"),
    ("Mia", "en", "❤️❤️❤️🔥", "❤️❤️❤️🔥"),
]
