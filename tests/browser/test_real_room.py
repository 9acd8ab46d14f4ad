"""The viewer page against the real server with the default models."""

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from loadtest.chatter import read_lines
from loadtest.demo import run, speech
from tests.browser.conftest import OpenPage
from tests.support.servers import RunningServer

pytestmark = pytest.mark.browser

COMMENTS = Path(run.__file__).with_name("comments.jsonl")
# Watched for, as a text may be gone before one that looks now and then comes back to it.
UNTIL_SAID = """wanted => new Promise((resolve, reject) => {
    const unsaid = new Map(Object.entries(wanted));
    const look = () => {
        for (const [place, word] of unsaid)
            if (new RegExp(word, "u").test(document.querySelector(place).textContent)) unsaid.delete(place);
        if (!unsaid.size) resolve();
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    setTimeout(() => reject(new Error(`unsaid after 60 s: ${[...unsaid.values()]}`)), 60_000);
    look();
})"""


def test_a_comment_is_read_in_the_chosen_language_and_again_in_the_next(
    service: RunningServer, open_page: OpenPage
) -> None:
    httpx.post(f"{service.url}/v1/rooms", json={"room": "browser"}).raise_for_status()
    page = open_page(f"{service.url}/r/browser?lang=en")
    expect(page.locator("body")).to_have_attribute("data-connection", "open", timeout=15_000)
    comment = {"author": "小鱼", "text": "主播今天卖什么？"}
    httpx.post(f"{service.url}/v1/rooms/browser/comments", json=comment).raise_for_status()
    text = page.locator("#comments .text")
    expect(text).to_have_text(re.compile("[A-Za-z]{3}"), timeout=30_000)
    expect(text).to_have_attribute("lang", "en")
    page.get_by_label("Language").select_option("vi")
    expect(text).to_have_attribute("lang", "vi", timeout=30_000)


def test_a_broadcast_is_shown_while_it_happens_and_is_pictured(
    service: RunningServer, open_page: OpenPage, pictures: Path
) -> None:
    httpx.post(f"{service.url}/v1/rooms", json={"room": "kettle", "sources": ["en"]}).raise_for_status()
    page = open_page(f"{service.url}/r/kettle?lang=zh-Hans", width=1280, dark=True)
    expect(page.locator("body")).to_have_attribute("data-connection", "open", timeout=15_000)
    push = [sys.executable, "-m", "app.cli.main", "push", str(speech.sample().file), "--room", "kettle"]
    host = subprocess.Popen([*push, "--server", service.url])
    try:
        for line in read_lines(COMMENTS)[:9]:
            comment = {"author": line.author, "text": line.text}
            httpx.post(f"{service.url}/v1/rooms/kettle/comments", json=comment).raise_for_status()
        expect(page.locator("#live-text")).to_have_text(re.compile("^Live"), timeout=15_000)
        page.evaluate(UNTIL_SAID, {"#original": "kettle", "#current": "\\p{Script=Han}{4}"})
        page.set_viewport_size({"width": 1280, "height": 540})
        page.locator("main").screenshot(path=str(pictures / "room.png"))
    finally:
        host.terminate()
        host.wait()
