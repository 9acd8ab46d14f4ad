"""The project's own source files, for tests that read them."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("app", "pipelines", "engines", "loadtest")


def sources(*folders: str) -> Iterator[Path]:
    """Python files of the named top folders."""
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))
