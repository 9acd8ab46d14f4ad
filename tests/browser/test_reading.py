"""The reading modes: the class alone with a clock of the test's, and the page with each of them."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.support.scripted_server import ScriptedServer

pytestmark = pytest.mark.browser

# Plays events at their times, looks also when it was told to look again, and gives what was seen, once for each change.
_PLAY = """async ({ mode, speed, events, until }) => {
    const { Reading } = await import("/static/reading.js");
    let now = 0;
    let again = Infinity;
    const seen = [];
    const reading = new Reading(() => now, mode);
    reading.readAt(speed);
    const look = () => {
        const view = reading.look();
        again = now + view.again;
        const lines = view.quiet ? ["quiet"] : [view.current.text, view.earlier.text, view.original.text];
        if (JSON.stringify(lines) !== JSON.stringify(seen.at(-1)?.slice(1))) seen.push([now, ...lines]);
    };
    const wakeBefore = (at) => {
        for (let turns = 0; again <= at; turns += 1) {
            if (turns > 100) throw new Error("looks again and again");
            now = again;
            look();
        }
    };
    for (const [at, call, argument] of events) {
        wakeBefore(at);
        now = at;
        reading[call](argument);
        look();
    }
    wakeBefore(until);
    return { seen, ...reading.figures };
}"""


class Player:
    """Plays frames to a Reading in a page; times are milliseconds."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.characters_per_s = 20
        self._events: list[tuple[int, str, Any]] = []
        self._revisions: dict[str, int] = {}

    def cue(self, at: int, name: str, text: str, **fields: Any) -> None:
        """An unfinished revision; `fields` change it."""
        revision = self._revisions[name] = self._revisions.get(name, -1) + 1
        usual = {"id": name, "revision": revision, "final": False, "lang": "en", "source_lang": "zh-Hans"}
        about = {"text": text, "source_text": f"[{name}]", "start": 0, "end": 1, "flags": []}
        self._events.append((at, "cue", usual | about | fields))

    def final(self, at: int, name: str, text: str, **fields: Any) -> None:
        """The last revision."""
        self.cue(at, name, text, final=True, **fields)

    def call(self, at: int, call: str, argument: Any = None) -> None:
        """Any other call."""
        self._events.append((at, call, argument))

    def play(self, mode: str, until: int = 6_000) -> dict[str, Any]:
        """What was seen as [at, current, earlier, original] or [at, "quiet"], and the figures."""
        speed = {"characters_per_s": self.characters_per_s, "least_s": 0.83}
        return self._page.evaluate(_PLAY, {"mode": mode, "speed": speed, "events": self._events, "until": until})

    def main_line(self, mode: str, until: int = 6_000) -> list[tuple[int, str]]:
        """When the main line changed, to what."""
        changes: list[tuple[int, str]] = []
        for at, text, *_ in self.play(mode, until)["seen"]:
            if not changes or changes[-1][1] != text:
                changes.append((at, text))
        return changes


@pytest.fixture
def player(server: ScriptedServer, open_page: OpenPage) -> Player:
    """On a page of the scripted server's, as modules are loaded from where the page is."""
    return Player(open_page(f"{server.url}/r/demo?lang=en"))


def test_fast_shows_each_revision_as_it_comes(player: Player) -> None:
    player.cue(0, "a", "We sail")
    player.cue(100, "a", "We sailed to")
    player.final(150, "a", "We sailed home.")
    player.cue(200, "b", "And")
    assert player.main_line("fast") == [(0, "We sail"), (100, "We sailed to"), (150, "We sailed home."), (200, "And")]
    played = player.play("fast")
    assert played["takenBack"] == 2  # sail, to
    assert played["shown"] == [50]


def test_steady_rewrites_at_most_every_800_ms_and_finishes_at_once(player: Player) -> None:
    for count in range(1, 12):
        player.cue(count * 220, "a", " ".join(["row"] * count))
    player.final(2_430, "a", "We row the boat.")
    changes = player.main_line("steady")
    assert [at for at, _ in changes] == [220, 1_020, 1_820, 2_430]
    assert [len(text.split()) for _, text in changes] == [1, 4, 8, 4]


def test_steady_keeps_words_that_would_only_be_taken_back_until_the_end(player: Player) -> None:
    player.cue(0, "a", "We sail to the island")
    player.cue(1_000, "a", "We sail to the")
    player.cue(2_000, "a", "We sail to a harbour.")
    player.final(3_000, "a", "We sail to a harbour.")
    assert player.main_line("steady") == [(0, "We sail to the island"), (3_000, "We sail to a harbour.")]
    assert player.play("steady")["takenBack"] == 2
    assert player.play("fast")["takenBack"] == 2  # island, then the


def test_steady_shows_a_rewrite_that_brings_words_or_begins_otherwise(player: Player) -> None:
    player.cue(0, "a", "The bank of the")
    player.cue(1_000, "a", "A shore of the")
    player.cue(2_000, "a", "A shore of a wide river")
    assert [at for at, _ in player.main_line("steady")] == [0, 1_000, 2_000]


def test_signs_and_capitals_are_not_words_taken_back(player: Player) -> None:
    player.cue(0, "a", "hello everyone")
    player.final(1_000, "a", "Hello, everyone.")
    assert player.play("fast")["takenBack"] == 0


@pytest.mark.parametrize(("lang", "taken"), [("zh-Hans", 2), ("ja", 2), ("th", 2), ("vi", 1), ("ko", 1)])
def test_what_has_no_spaces_is_counted_by_characters(player: Player, lang: str, taken: int) -> None:
    player.cue(0, "a", "今天 出海", lang=lang)
    player.final(100, "a", "今天 回家。", lang=lang)
    assert player.play("fast")["takenBack"] == taken


def test_what_is_retracted_was_taken_back_unless_it_was_never_shown(player: Player) -> None:
    player.final(0, "a", "one")
    player.cue(10, "b", "two words")
    player.call(20, "retract", "b")
    assert player.play("fast")["takenBack"] == 2
    assert player.main_line("fast") == [(0, "one"), (10, "two words"), (20, "one")]
    assert player.play("steady")["takenBack"] == 0


@pytest.mark.parametrize(
    ("speed", "length", "stays"), [(20, 4, 830), (20, 40, 2_000), (9, 18, 2_000), (17, 34, 2_000), (10, 5, 830)]
)
def test_a_finished_subtitle_stays_until_it_could_be_read(player: Player, speed: int, length: int, stays: int) -> None:
    player.characters_per_s = speed
    player.final(0, "a", "x" * length)
    player.cue(100, "b", "next", flags=["pending"])
    played = player.play("steady", 3_000)
    assert [(at, current) for at, current, *_ in played["seen"]] == [(0, "x" * length), (stays, "next")]
    assert played["shown"] == [stays]


def test_what_was_said_belongs_to_the_subtitle_beside_it(player: Player) -> None:
    player.final(0, "a", "x" * 40)
    player.cue(100, "b", "", flags=["pending"])
    player.cue(3_000, "b", "next")
    seen = player.play("steady", 4_000)["seen"]
    assert [(at, current, original) for at, current, _, original in seen] == [
        (0, "x" * 40, "[a]"),
        (2_000, "x" * 40, "[b]"),
        (3_000, "next", "[b]"),
    ]


def test_two_that_wait_end_the_stay(player: Player) -> None:
    player.final(0, "a", "x" * 60)
    player.final(100, "b", "y" * 60)
    player.final(200, "c", "z" * 60)
    changes = player.main_line("steady", 3_500)
    assert [(at, text[0]) for at, text in changes] == [(0, "x"), (200, "y"), (3_200, "z")]
    assert player.play("steady", 3_500)["shown"] == [200, 3_000]


def test_no_stay_holds_the_next_up_for_over_four_seconds(player: Player) -> None:
    player.final(0, "a", "x" * 200)
    player.cue(500, "b", "next")
    assert player.main_line("steady") == [(0, "x" * 200), (4_500, "next")]


def test_an_end_that_is_late_is_waited_for_and_one_that_never_comes_is_not(player: Player) -> None:
    player.cue(0, "a", "unfinished")
    player.cue(500, "b", "next")
    player.final(1_000, "a", "finished")
    player.cue(2_500, "c", "third")
    assert (
        player.main_line("steady", 6_000)
        == [(0, "unfinished"), (1_000, "finished"), (1_830, "next"), (6_500, "third")][:3]
    )
    changes = [(0, "unfinished"), (1_000, "finished"), (1_830, "next"), (6_500, "third")]
    assert player.main_line("steady", 7_000) == changes


def test_finished_only_shows_nothing_unfinished(player: Player) -> None:
    player.cue(0, "a", "unfinished")
    player.final(500, "a", "finished")
    player.cue(600, "b", "next")
    player.cue(2_000, "b", "next one")
    player.final(4_000, "b", "Next.")
    seen = player.play("finished")["seen"]
    assert seen == [[0, "", "", ""], [500, "finished", "", "[a]"], [4_000, "Next.", "finished", "[b]"]]
    played = player.play("finished")
    assert played["takenBack"] == 0
    assert played["shown"] == [3_500]


def test_the_last_subtitle_goes_after_a_while_or_when_it_could_be_read(player: Player) -> None:
    player.final(0, "a", "short")
    assert player.play("steady", 10_000)["seen"][-1] == [7_000, "quiet"]
    assert player.play("steady", 10_000)["shown"] == [7_000]
    player.final(20_000, "b", "x" * 200)
    assert player.play("steady", 40_000)["shown"] == [7_000, 10_000]


def test_an_empty_pending_revision_takes_nothing_back(player: Player) -> None:
    player.cue(0, "a", "We sail")
    player.cue(100, "a", "", flags=["pending"])
    player.final(1_000, "a", "We sail.")
    assert player.main_line("fast", 2_000) == [(0, "We sail"), (1_000, "We sail.")]


def test_another_mode_or_language_begins_the_figures_anew(player: Player) -> None:
    player.cue(0, "a", "one")
    player.final(100, "a", "two")
    player.cue(200, "b", "three")
    player.call(300, "choose", "finished")
    player.call(400, "clear")
    played = player.play("fast")
    assert (played["takenBack"], played["shown"]) == (0, [])
    assert [current for _, current, *_ in played["seen"]] == ["one", "two", "three", "two", ""]


_RECORD = """() => {
    window.changes = [];
    const line = document.getElementById("current");
    new MutationObserver(() => changes.push([performance.now(), line.textContent])).observe(line, { childList: true });
}"""


def _page(server: ScriptedServer, open_page: OpenPage, mode: str, **options: Any) -> Page:
    page = open_page(f"{server.url}/r/demo?lang=en", **options)
    expect(page.locator("body")).to_have_attribute("data-connection", "open", timeout=15_000)
    expect(page.get_by_label("Reading")).to_have_value("steady")
    page.get_by_label("Reading").select_option(mode)
    page.evaluate(_RECORD)
    return page


def _say_sentence(server: ScriptedServer) -> None:
    for revision, text in enumerate(["We", "We sail", "We sailed to", "We sail to the island"]):
        server.cue("s1", "en", text, "我们去岛上", revision=revision, final=False, source_lang="zh-Hans")


def test_on_the_page_fast(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _page(server, open_page, "Fast")
    subtitles = page.locator("#subtitles")
    _say_sentence(server)
    expect(page.locator("#current")).to_have_text("We sail to the island")
    assert [text for _, text in page.evaluate("changes")] == ["We", "We sail", "We sailed to", "We sail to the island"]
    expect(subtitles).to_have_attribute("data-taken-back", "3")
    server.cue("s1", "en", "We sail to the island.", "我们去岛上", revision=4, source_lang="zh-Hans")
    server.cue("s2", "en", "And", "然后", final=False, source_lang="zh-Hans")
    expect(page.locator("#current")).to_have_text("And")
    expect(subtitles).to_have_attribute("data-shown", re.compile(r"^\d{1,3}$"))


def test_on_the_page_steady(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _page(server, open_page, "Steady")
    subtitles = page.locator("#subtitles")
    _say_sentence(server)
    expect(page.locator("#current")).to_have_text("We sail to the island")
    (began, first), (rewritten, _) = page.evaluate("changes")
    assert first == "We"
    assert rewritten - began >= 790
    server.cue("s1", "en", "We sail to the island.", "我们去岛上", revision=4, source_lang="zh-Hans")
    server.cue("s2", "en", "And", "然后", final=False, source_lang="zh-Hans")
    expect(page.locator("#current")).to_have_text("And")
    expect(subtitles).to_have_attribute("data-taken-back", "0")
    shown = subtitles.get_attribute("data-shown")
    assert shown is not None
    assert int(shown) >= len("We sail to the island.") / 20 * 1000


def test_on_the_page_finished_only_and_remembered(server: ScriptedServer, open_page: OpenPage) -> None:
    page = _page(server, open_page, "Finished only")
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-connection", "open", timeout=15_000)
    expect(page.get_by_label("Reading")).to_have_value("finished")
    page.evaluate(_RECORD)
    _say_sentence(server)
    server.cue("s1", "en", "We sail to the island.", "我们去岛上", revision=4, source_lang="zh-Hans")
    expect(page.locator("#current")).to_have_text("We sail to the island.")
    assert [text for _, text in page.evaluate("changes")] == ["We sail to the island."]
    expect(page.locator("#subtitles")).to_have_attribute("data-taken-back", "0")
    page.get_by_label("Language").select_option("vi")
    expect(page.locator("#current")).to_have_text("")
    expect(page.get_by_label("Reading")).to_have_value("finished")


@pytest.mark.parametrize("width", [1280, 760, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_pickers_fit_and_are_pictured(
    server: ScriptedServer, open_page: OpenPage, pictures: Path, width: int, dark: bool
) -> None:
    page = _page(server, open_page, "Finished only", width=width, dark=dark)
    server.cue("s1", "en", "Hello everyone, and welcome back.", "大家好", source_lang="zh-Hans")
    expect(page.locator("#current")).to_have_text("Hello everyone, and welcome back.")
    page.screenshot(path=str(pictures / f"reading-{width}-{'dark' if dark else 'light'}.png"))
    header = page.locator(".side-top").bounding_box()
    assert header is not None
    assert header["height"] < 110
    for control in ("#language", "#reading", "#originals"):
        box = page.locator(control).bounding_box()
        assert box is not None
        assert header["x"] <= box["x"]
        assert box["x"] + box["width"] <= header["x"] + header["width"]
        assert box["width"] >= 70
