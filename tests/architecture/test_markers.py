"""Every test module says what kind of test it holds, so that a run can choose."""

import pytest

from tests.support.trees import ROOT, sources

pytestmark = pytest.mark.unit

KINDS = ("unit", "integration", "browser", "quality")


def test_every_test_module_names_its_kind() -> None:
    nameless = [
        str(path.relative_to(ROOT))
        for path in sources("tests")
        if path.name.startswith("test_") and not any(f"mark.{kind}" in path.read_text() for kind in KINDS)
    ]
    assert not nameless
