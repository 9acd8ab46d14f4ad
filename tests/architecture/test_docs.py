"""The docs point at files that exist, and the example configuration is the settings' own."""

import re

import pytest

from app.settings_example import example
from tests.support.trees import ROOT

pytestmark = pytest.mark.unit

_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_CODE_PATH = re.compile(r"`((?:app|pipelines|engines|loadtest|web|tests|tools)/[\w./-]+)`")
_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_links_and_file_names_lead_somewhere(page: object) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [page.parent / link for link in _LINK.findall(text)] + [ROOT / path for path in _CODE_PATH.findall(text)]
    assert not [str(target) for target in targets if not target.exists()]


def test_the_example_configuration_shows_every_setting_with_its_default() -> None:
    shown = (ROOT / "sampan.example.toml").read_text(encoding="utf-8")
    assert shown == example(), "write it anew: python -m app.settings_example > sampan.example.toml"
