"""Which models translate a pair, and what happens when one does not."""

import asyncio

import pytest

from engines.batching.ticket import Done, Failed, Outcome, Shed, ShedCause, Ticket, Tier
from engines.engine import RowFailure
from engines.errors import Unavailable
from engines.languages import LanguageTag
from engines.mt.routes import Router, best_models, routes
from engines.mt.types import Translation, TranslationRequest
from tests.support.virtual_time import run_virtual

pytestmark = pytest.mark.unit

ZH, EN, VI, TH = (LanguageTag(tag) for tag in ("zh-Hans", "en", "vi", "th"))
MODELS = {
    "any": {"zh-Hans>en": 21.0, "*": 8.0},
    "zh-en": {"zh-Hans>en": 28.0},
    "en-vi": {"en>vi": 30.0},
    "vi-en": {"vi>en": 33.0},
}
TICKET = Ticket(flow="r", tier=Tier.STANDARD, deadline=100.0)


class Batcher:
    """Answers with its name around the text, or with what a test gives it."""

    def __init__(self, name: str, outcome: Outcome[Translation] | None = None) -> None:
        self.asked: list[TranslationRequest] = []
        self._name = name
        self._outcome = outcome

    async def submit(self, row: TranslationRequest, _ticket: Ticket) -> Outcome[Translation]:
        self.asked.append(row)
        if self._outcome is not None:
            return self._outcome
        text = f"{self._name}({row.text})"
        result = Translation(text=text, engine=self._name, model_version=self._name, tokens=5)
        return Done(result=result, queued_s=0.25, infer_s=0.5, batch_rows=1)


def names(source: LanguageTag, target: LanguageTag) -> list[str]:
    return [route.name for route in routes(MODELS, source, target)]


def ask(router: Router, source: LanguageTag, target: LanguageTag, text: str = "t") -> Outcome[Translation]:
    row = TranslationRequest(text=text, source=source, target=target, keep=("X1",))
    return run_virtual(router.submit(row, TICKET))


def router(**outcomes: Outcome[Translation]) -> tuple[Router, dict[str, Batcher]]:
    batchers = {name: Batcher(name, outcomes.get(name.replace("-", "_"))) for name in MODELS}
    return Router(batchers, MODELS), batchers


def test_the_best_score_goes_first_and_any_model_is_better_than_none() -> None:
    assert names(ZH, EN) == ["zh-en", "any"]
    assert names(EN, TH) == ["any"]


def test_a_pair_goes_through_english_where_that_scores_better_than_direct() -> None:
    assert names(ZH, VI)[:2] == ["zh-en+en-vi", "any+en-vi"]
    assert names(ZH, VI).index("any") < names(ZH, VI).index("any+any")
    assert names(ZH, TH)[0] == "any"


def test_one_model_goes_direct_before_it_is_asked_twice() -> None:
    models = {"all": {"zh-Hans>en": 21.0, "en>vi": 20.0, "*": 8.0}}
    assert [route.name for route in routes(models, ZH, VI)] == ["all", "all+all"]


def test_what_the_best_routes_need_is_told_once() -> None:
    assert best_models(MODELS, [ZH, EN, VI]) == ["zh-en", "en-vi", "any", "vi-en"]
    assert best_models({}, [ZH, EN]) == []


def test_a_translation_says_which_way_it_went_and_what_that_took() -> None:
    one, _ = router()
    outcome = ask(one, ZH, VI)
    assert isinstance(outcome, Done)
    assert (outcome.result.text, outcome.result.route) == ("en-vi(zh-en(t))", "zh-en+en-vi")
    assert (outcome.queued_s, outcome.infer_s, outcome.result.tokens) == (0.5, 1.0, 10)


def test_signs_are_to_be_kept_on_both_legs() -> None:
    one, batchers = router()
    ask(one, ZH, VI)
    assert [batchers[name].asked[0].keep for name in ("zh-en", "en-vi")] == [("X1",), ("X1",)]


@pytest.mark.parametrize("why", [Unavailable("down", hint="wait"), RowFailure("wrong_script")])
def test_the_next_best_takes_over_where_one_fails(why: Unavailable | RowFailure) -> None:
    one, _ = router(zh_en=Failed(why))
    outcome = ask(one, ZH, EN)
    assert isinstance(outcome, Done)
    assert outcome.result.route == "any"


def test_what_was_shed_is_not_asked_again_elsewhere() -> None:
    one, batchers = router(zh_en=Shed(ShedCause.DEADLINE))
    assert ask(one, ZH, EN) == Shed(ShedCause.DEADLINE)
    assert batchers["any"].asked == []


def test_where_all_fail_the_last_fault_is_told() -> None:
    one, batchers = router(zh_en=Failed(RowFailure("empty")), any=Failed(RowFailure("echo")))
    assert ask(one, ZH, EN) == Failed(RowFailure("echo"))
    assert sum(len(batcher.asked) for batcher in batchers.values()) == 2


def test_a_pair_that_no_model_has_is_unsupported() -> None:
    assert ask(Router({}, {}), ZH, EN) == Failed(RowFailure("unsupported_pair"))


def test_pairs_are_made_ready_one_at_a_time_and_hold_up_no_text() -> None:
    class Slow(Batcher):
        under_way = most = 0

        async def submit(self, row: TranslationRequest, ticket: Ticket) -> Outcome[Translation]:
            if not row.text:
                self.under_way += 1
                self.most = max(self.most, self.under_way)
                await asyncio.sleep(40.0)
                self.under_way -= 1
            return await super().submit(row, ticket)

    async def main() -> tuple[list[Outcome[Translation]], float]:
        ready = [
            asyncio.create_task(one.submit(TranslationRequest(text="", source=ZH, target=target), TICKET))
            for target in (EN, VI, TH, EN)
        ]
        await asyncio.sleep(0)
        await one.submit(TranslationRequest(text="t", source=ZH, target=EN), TICKET)
        waited = asyncio.get_running_loop().time()
        return await asyncio.gather(*ready), waited

    batcher = Slow("any")
    one = Router({"any": batcher}, {"any": {"*": 8.0}})
    outcomes, waited = run_virtual(main())
    assert [isinstance(outcome, Done) for outcome in outcomes] == [True, True, True, False]
    assert outcomes[-1] == Shed(ShedCause.DEADLINE)
    assert (batcher.most, waited) == (1, 0.0)


def test_getting_ready_asks_the_best_route_only() -> None:
    one, batchers = router(zh_en=Failed(Unavailable("down", hint="wait")))
    ask(one, ZH, EN, text="")
    assert [len(batchers[name].asked) for name in ("zh-en", "any")] == [1, 0]
