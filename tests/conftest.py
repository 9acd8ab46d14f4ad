"""What several kinds of tests share: one running server, a fresh room for each test, the choice by recordings."""

import secrets
from collections.abc import Iterator

import httpx
import pytest

from tests.support import material
from tests.support.rooms import Room
from tests.support.servers import RunningServer, running_server

# Machines that run tests are busy: what is late there is not lost.
_PATIENT = {
    "SAMPAN_TRANSLATOR_COMMENT_DEADLINE_S": "30",
    "SAMPAN_TRANSLATOR_FINAL_DEADLINE_S": "30",
    "SAMPAN_SPEECH_RECOGNITION_FINAL_DEADLINE_S": "15",
}
_DESELECTED = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs recordings where there are none."""
    if material.have_recordings():
        return
    without = [item for item in items if item.get_closest_marker("recordings")]
    if without:
        config.stash[_DESELECTED] = len(without)
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if not item.get_closest_marker("recordings")]


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Say what was left out and why."""
    count = config.stash.get(_DESELECTED, 0)
    if not count:
        return []
    why = f"{material.data_folder()} is not there (SAMPAN_TEST_DATA names another folder)"
    return [f"deselected {count} tests that need recordings: {why}"]


@pytest.fixture(scope="session")
def service() -> Iterator[RunningServer]:
    """A server without a secret, shared by all tests of a run. Nobody's words may be in its log at the end."""
    with running_server(**_PATIENT) as server:
        yield server
        assert not [text for text in Room.sent if text in server.stderr]
        assert "task_failed" not in server.stderr, server.stderr


@pytest.fixture
def room(service: RunningServer) -> Iterator[Room]:
    """A room of any languages that exists for one test."""
    with Room(service.url, f"t-{secrets.token_hex(4)}") as opened:
        yield opened


@pytest.fixture
def http(service: RunningServer) -> Iterator[httpx.Client]:
    """A client of the shared server."""
    with httpx.Client(base_url=service.url, trust_env=False) as client:
        yield client
