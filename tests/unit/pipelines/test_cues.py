"""pipelines/cues.py and pipelines/ledger.py"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LANGUAGES, LanguageTag
from pipelines.cues import CueBook, Rendering
from pipelines.ledger import durations, stamp
from pipelines.types import Cue, CueFlag, Ledger
from tests.unit.pipelines.sources import source

pytestmark = pytest.mark.unit

EN = LanguageTag("en")


def rendering(text: str) -> Rendering:
    return Rendering(text=text, ledger=Ledger())


steps = st.lists(st.tuples(st.sampled_from(["pending", "rendered"]), st.integers(0, 5)), max_size=30)


@given(steps)
def test_revisions_only_grow_nothing_follows_a_final_and_text_never_goes_back(steps: list[tuple[str, int]]) -> None:
    book, shown = CueBook("r"), list[tuple[Cue, int]]()
    for step, revision in steps:
        said = source(revision=revision, final=revision == 5, text=f"text {revision}")
        cue = book.pending(said, EN) if step == "pending" else book.rendered(said, EN, rendering(f"t{revision}"))
        if cue is not None:
            shown.append((cue, revision))
    assert [cue.revision for cue, _ in shown] == list(range(len(shown)))
    assert all(not cue.final for cue, _ in shown[:-1])
    translated = [int(cue.text[1:]) for cue, _ in shown if cue.text]
    assert translated == sorted(translated)


def test_a_pending_cue_keeps_the_translation_that_was_shown_before_it() -> None:
    book = CueBook("r")
    book.rendered(source(revision=0, final=False), EN, rendering("Hello"))
    cue = book.pending(source(revision=1, final=False, text="大家好啊"), EN)
    assert cue is not None
    assert (cue.text, cue.source_text, cue.flags) == ("Hello", "大家好啊", (CueFlag.PENDING,))


def test_languages_and_cues_are_told_apart() -> None:
    book = CueBook("r")
    assert book.rendered(source(), EN, rendering("a")) is not None
    assert book.rendered(source(), LanguageTag("vi"), rendering("b")) is not None
    assert book.rendered(source("s2.0"), EN, rendering("c")) is not None
    assert book.rendered(source(), EN, rendering("again")) is None


def test_a_book_does_not_grow_with_the_stream() -> None:
    book = CueBook("r")
    for number in range(10_000):
        book.rendered(source(f"s{number}.0"), EN, rendering("x"))
    assert len(book._shown) == 512 * len(LANGUAGES)


def test_an_older_text_s_translation_does_not_turn_the_source_back() -> None:
    book = CueBook("r")
    book.pending(source(revision=0, final=False, text="old"), EN)
    book.pending(source(revision=1, final=False, text="old and new"), EN)
    cue = book.rendered(source(revision=0, final=False, text="old"), EN, rendering("OLD"))
    assert cue is not None
    assert (cue.text, cue.source_text, cue.flags) == ("OLD", "old and new", (CueFlag.PENDING,))


def test_a_stage_keeps_the_time_it_got_first() -> None:
    ledger = stamp(stamp(Ledger(captured=1.0), queued=2.0), queued=9.0, inferred=3.5)
    assert (ledger.queued, ledger.inferred) == (2.0, 3.5)


def test_durations_run_from_the_nearest_earlier_stage() -> None:
    ledger = Ledger(captured=1.0, received=1.5, queued=2.0, inferred=4.0, published=4.0)
    assert durations(ledger) == {"received": 0.5, "queued": 0.5, "inferred": 2.0, "published": 0.0}
    assert durations(Ledger(received=3.0, published=2.0)) == {"published": 0.0}
