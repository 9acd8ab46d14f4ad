"""A headless Chromium, pages that fail a test when their script does, and a folder for screenshots."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.scripted_server import ScriptedServer, scripted_server

_CHROMIUM = Path(os.environ.get("SAMPAN_CHROMIUM", "/usr/bin/chromium"))
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

OpenPage = Callable[..., Page]


@pytest.fixture(scope="package")  # Playwright holds this thread's event loop as long as it runs
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    if not _CHROMIUM.exists():
        pytest.fail(f"{_CHROMIUM} is missing: apt-get install chromium, or name one in SAMPAN_CHROMIUM", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(_CHROMIUM), args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[OpenPage]:
    """Opens an address at a width, in light or dark, each in a fresh profile. Script errors fail the test."""
    faults: list[str] = []
    contexts = []

    def open_one(address: str, width: int = 1440, *, dark: bool = False, locale: str = "en-GB") -> Page:
        size = {"width": width, "height": 900 if width > 900 else 844}
        scheme = "dark" if dark else "light"
        context = chromium.new_context(viewport=size, color_scheme=scheme, locale=locale, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
        page.goto(address)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not faults


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that says what the test wants."""
    with scripted_server() as script:
        yield script


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots go: $SAMPAN_PICTURES, or a folder that is thrown away."""
    folder = Path(os.environ.get("SAMPAN_PICTURES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
