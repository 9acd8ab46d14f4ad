"""A file holds one idea and is read in one sitting; a function fits on a screen."""

import ast
from pathlib import Path

import pytest

from tests.support.trees import PACKAGES, ROOT, sources

pytestmark = pytest.mark.unit

MOST_LINES = 400
MOST_FUNCTION_LINES = 60
MOST_METHODS = 20
_WEB = [path for kind in ("*.js", "*.css", "*.html") for path in sorted((ROOT / "web").rglob(kind))]


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_file_is_over_400_lines() -> None:
    files = [*sources(*PACKAGES, "tests"), *_WEB]
    long = {_shown(path): lines for path in files if (lines := len(path.read_text().splitlines())) > MOST_LINES}
    assert not long


def test_functions_fit_on_a_screen_and_classes_in_a_head() -> None:
    found = []
    for path in sources(*PACKAGES):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_FUNCTION_LINES:
                    found.append(f"{_shown(path)}:{node.lineno} {node.name} has {lines} lines")
            if isinstance(node, ast.ClassDef):
                methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
                if len(methods) > MOST_METHODS:
                    found.append(f"{_shown(path)}:{node.lineno} {node.name} has {len(methods)} methods")
    assert not found, "\n".join(found)


def test_every_module_says_in_one_sentence_what_it_is() -> None:
    silent = [
        _shown(path)
        for path in sources(*PACKAGES)
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent
