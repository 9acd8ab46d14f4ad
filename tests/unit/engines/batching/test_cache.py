import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.batching.cache import ResultCache

pytestmark = pytest.mark.unit


def cache(max_entries: int = 2, max_age_s: float = 10.0) -> ResultCache[str, str]:
    return ResultCache(lambda row: row or None, max_entries=max_entries, max_age_s=max_age_s)


def test_the_least_recently_used_answer_gives_way() -> None:
    answers = cache()
    answers.put("a", "A", 0.0)
    answers.put("b", "B", 0.0)
    assert answers.get("a", 1.0) == "A"
    answers.put("c", "C", 1.0)
    assert [answers.get(key, 1.0) for key in "abc"] == ["A", None, "C"]


def test_an_answer_ages_from_when_it_was_given() -> None:
    answers = cache()
    answers.put("a", "A", 0.0)
    assert answers.get("a", 10.0) == "A"
    assert answers.get("a", 10.1) is None
    assert len(answers) == 0


def test_the_models_version_is_part_of_the_key_and_some_rows_have_none() -> None:
    assert cache().key("a", "m@1") != cache().key("a", "m@2")
    assert cache().key("", "m@1") is None


@given(st.lists(st.integers(0, 20), max_size=100), st.integers(1, 5))
def test_the_cache_never_outgrows_its_bound_and_keeps_the_newest(keys: list[int], bound: int) -> None:
    answers = cache(max_entries=bound)
    for key in keys:
        answers.put(key, str(key), 0.0)
        assert len(answers) <= bound
        assert answers.get(key, 0.0) == str(key)
