"""Models and recordings that tests run on but the repository doesn't hold; a test without them fails and says so."""

import os
from pathlib import Path

import pytest

from engines.store.library import library_root

_TEST_DATA = Path(__file__).parents[3] / "shared" / "data"


def installed_model(name: str) -> Path:
    """The folder of a model in the machine's library."""
    folder = library_root() / name
    if not folder.is_dir():
        pytest.fail(f"{folder} is missing: run `sampan models pull {name}`", pytrace=False)
    return folder


def recordings(name: str) -> Path:
    """A folder of recordings and texts: below SAMPAN_TEST_DATA, else beside the repository."""
    folder = Path(os.environ.get("SAMPAN_TEST_DATA", _TEST_DATA)) / name
    if not folder.is_dir():
        pytest.fail(f"{folder} is missing: set SAMPAN_TEST_DATA to the folder of the test data", pytrace=False)
    return folder
