"""No queue, cache or buffer without a bound; no task without an owner; no sleep in a test."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.trees import PACKAGES, ROOT, sources

pytestmark = pytest.mark.unit

_QUEUES = {"Queue", "LifoQueue", "PriorityQueue", "SimpleQueue", "JoinableQueue"}
_OWNERLESS = {"create_task", "ensure_future"}


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _calls(path: Path) -> Iterator[ast.Call]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def unbounded(path: Path) -> list[str]:
    """Calls in a file that build something without a bound."""
    found = []
    for call in _calls(path):
        name, place = _name(call.func), f"{path.name}:{call.lineno}"
        keywords = {keyword.arg for keyword in call.keywords}
        if name in _QUEUES and not (call.args or "maxsize" in keywords):
            found.append(f"{place}: {name}() without a size")
        if name == "deque" and "maxlen" not in keywords and len(call.args) < 2:
            found.append(f"{place}: deque() without maxlen")
        if name == "lru_cache" and any(isinstance(a, ast.Constant) and a.value is None for a in call.args):
            found.append(f"{place}: lru_cache(None)")
        if name == "ThreadPoolExecutor" and not (call.args or "max_workers" in keywords):
            found.append(f"{place}: ThreadPoolExecutor() without a size")
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_every_queue_and_buffer_has_a_bound(package: str) -> None:
    found = [line for path in sources(package) for line in unbounded(path)]
    assert not found, "\n".join(found)


def test_the_rule_sees_what_it_forbids(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("q = Queue()\nd = deque()\nx = lru_cache(None)\nt = ThreadPoolExecutor()\nok = deque(maxlen=3)\n")
    assert len(unbounded(path)) == 4


def test_tasks_are_started_only_in_groups_that_own_them() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in sources(*PACKAGES)
        for call in _calls(path)
        if _name(call.func) in _OWNERLESS
        and isinstance(call.func, ast.Attribute)
        and _name(call.func.value) in {"asyncio", "loop"}
    ]
    assert not found, f"start these in a TaskGroup: {found}"


def test_no_test_sleeps() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in sources("tests")
        for call in _calls(path)
        if ast.unparse(call.func) in {"time.sleep"}
    ]
    assert not found, f"wait for an event or use virtual time: {found}"
