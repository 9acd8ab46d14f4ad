from collections import Counter

import pytest

from engines.languages import LANGUAGES, LanguageTag
from tests.quality.cases import ChatCase, failures, load

pytestmark = pytest.mark.unit

CASES = load()
CORE = {"zh-Hans", "en", "vi", "th", "id", "ms"}


def test_there_are_cases_enough_in_every_core_language_each_with_an_id_of_its_own() -> None:
    assert len(CASES) >= 150
    assert len({case.id for case in CASES}) == len(CASES)
    assert set(Counter(case.source for case in CASES)) >= CORE
    assert {case.source for case in CASES} | {case.target for case in CASES} <= set(LANGUAGES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_line_that_is_left_as_it_was_fails_unless_it_should_be(case: ChatCase) -> None:
    assert bool(failures(case, case.text)) is not case.same
    assert failures(case, "")


def test_each_kind_of_failure_is_told() -> None:
    case = ChatCase(
        id="x",
        kind="price",
        source=LanguageTag("zh-Hans"),
        target=LanguageTag("en"),
        text="99元？",
        must=("99", ("yuan", "RMB")),
        must_not=("$",),
    )
    assert failures(case, "99 YUAN?") == []
    assert [wrong.split(":")[0] for wrong in failures(case, "$9")] == ["lacks '99'", "lacks 'yuan' or 'RMB'", "has '$'"]
    same = ChatCase(id="y", kind="untouched", source=case.source, target=case.target, text="😂", same=True)
    assert failures(same, "😂") == []
    assert failures(same, "haha") != []
