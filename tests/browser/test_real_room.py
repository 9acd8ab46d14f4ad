"""The viewer page against the real server with the default models: a comment arrives translated."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.support.servers import running_server

pytestmark = pytest.mark.browser


def test_a_comment_is_read_in_the_chosen_language_and_again_in_the_next(open_page: OpenPage) -> None:
    with running_server() as server:
        httpx.post(f"{server.url}/v1/rooms", json={"room": "browser"}).raise_for_status()
        page = open_page(f"{server.url}/r/browser?lang=en")
        expect(page.locator("body")).to_have_attribute("data-connection", "open", timeout=15_000)
        comment = {"author": "小鱼", "text": "主播今天卖什么？"}
        httpx.post(f"{server.url}/v1/rooms/browser/comments", json=comment).raise_for_status()
        text = page.locator("#comments .text")
        expect(text).to_have_text(re.compile("[A-Za-z]{3}"), timeout=30_000)
        expect(text).to_have_attribute("lang", "en")
        page.get_by_label("Language").select_option("vi")
        expect(text).to_have_attribute("lang", "vi", timeout=30_000)
