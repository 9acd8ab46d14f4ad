from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engines.batching.policy import BatchingSettings
from engines.batching.queue import Waiting, WaitingQueue
from engines.batching.ticket import ShedCause, Tier
from tests.unit.engines.batching.builders import ticket

pytestmark = pytest.mark.unit

TIERS = st.sampled_from(list(Tier))


@dataclass(slots=True, eq=False, kw_only=True)
class Entry(Waiting):
    name: str = ""


def entry(
    name: str,
    deadline: float = 100.0,
    tier: Tier = Tier.STANDARD,
    *,
    flow: str = "room",
    group: str = "zh>en",
    key: str | None = None,
    supersedes: str | None = None,
    since: float = 0.0,
) -> Entry:
    return Entry(ticket=ticket(deadline, tier, flow, supersedes), group=group, key=key, since=since, name=name)


def queue(**bounds: Any) -> WaitingQueue[Entry]:
    return WaitingQueue(BatchingSettings(**bounds))


def names(entries: list[Entry]) -> str:
    return "".join(each.name for each in entries)


def take_all(waiting: WaitingQueue[Entry]) -> str:
    taken = ""
    while (lead := waiting.lead()) is not None:
        ((first,),) = waiting.take(lead.group, 1)
        assert first is lead
        taken += first.name
    return taken


def filled(waiting: WaitingQueue[Entry], *entries: Entry) -> WaitingQueue[Entry]:
    for each in entries:
        assert waiting.put(each, 0.0) == []
    return waiting


def test_an_earlier_deadline_goes_first_and_equal_ones_in_order_of_arrival() -> None:
    assert take_all(filled(queue(), entry("c", 3), entry("a", 1), entry("d", 3), entry("b", 2))) == "abcd"


def test_tiers_take_turns_by_weight() -> None:
    many = [entry(tier.value[0], 100 + i, tier, flow=f"{tier}{i}") for tier in Tier for i in range(40)]
    assert Counter(take_all(filled(queue(), *many))[:39]) == {"p": 24, "s": 12, "b": 3}


def test_a_tier_gathers_no_turns_while_it_has_nothing_to_do() -> None:
    waiting = filled(queue(), *(entry("b", 100 + i, Tier.BACKGROUND, flow=str(i)) for i in range(30)))
    for _ in range(20):
        waiting.take("zh>en", 1)
    filled(waiting, *(entry("p", 100 + i, Tier.PREMIUM, flow=f"p{i}") for i in range(20)))
    assert "b" in take_all(waiting)[:10]


def test_a_call_is_filled_from_its_group_only_and_by_deadline() -> None:
    waiting = filled(
        queue(),
        entry("a", 1, group="zh>en"),
        entry("x", 2, group="vi>en"),
        entry("c", 4, group="zh>en"),
        entry("b", 3, group="zh>en"),
        entry("d", 5, group="zh>en"),
    )
    assert [names(row) for row in waiting.take("zh>en", 3)] == ["a", "b", "c"]
    assert take_all(waiting) == "xd"


def test_equal_requests_come_along_as_one_row_whatever_their_tier() -> None:
    waiting = filled(
        queue(),
        entry("a", 1, key="6"),
        entry("b", 2, key="7"),
        entry("c", 3, Tier.BACKGROUND, key="6", flow="other"),
        entry("d", 4, key="6", group="vi>en"),
    )
    assert [names(row) for row in waiting.take("zh>en", 8)] == ["ac", "b"]
    assert len(waiting) == 1


def test_a_newer_request_takes_the_place_of_the_waiting_one_with_the_same_key() -> None:
    first, second, other = entry("a", supersedes="u1"), entry("b", supersedes="u1"), entry("c", supersedes="u2")
    waiting = filled(queue(), first, other)
    assert waiting.put(second, 0.0) == [(first, ShedCause.SUPERSEDED)]
    assert take_all(waiting) == "cb"
    assert waiting.put(entry("d", supersedes="u1"), 0.0) == []


def test_expired_requests_are_returned() -> None:
    late, later = entry("a", 1), entry("b", 2, supersedes="u")
    waiting = filled(queue(), late, later)
    assert waiting.expire(1.0) == [late]
    expired = entry("c", 3, supersedes="u")
    assert waiting.put(expired, 3.0) == [(later, ShedCause.DEADLINE), (expired, ShedCause.DEADLINE)]
    assert len(waiting) == 0


def test_a_full_queue_sheds_the_lowest_tiers_latest_deadline() -> None:
    premium, standard = entry("p", 9, Tier.PREMIUM), entry("s", 5)
    soon, late = entry("b", 1, Tier.BACKGROUND), entry("c", 2, Tier.BACKGROUND)
    waiting = filled(queue(max_queue_size=3), premium, soon, late)
    assert waiting.put(standard, 0.0) == [(late, ShedCause.QUEUE_FULL)]
    newcomer = entry("d", 3, Tier.BACKGROUND)
    assert waiting.put(newcomer, 0.0) == [(newcomer, ShedCause.QUEUE_FULL)]


def test_a_flow_over_its_bound_sheds_its_own_and_only_its_own() -> None:
    mine = [entry("a", 1, flow="mine"), entry("b", 5, flow="mine")]
    waiting = filled(queue(max_queue_per_flow=2), *mine, entry("z", 9, Tier.BACKGROUND, flow="other"))
    newest = entry("c", 2, flow="mine")
    assert waiting.put(newest, 0.0) == [(mine[1], ShedCause.FLOW_FULL)]
    same = entry("d", 2, flow="mine")
    assert waiting.put(same, 0.0) == [(same, ShedCause.FLOW_FULL)]


def test_removing_what_does_not_wait_changes_nothing() -> None:
    waiting = filled(queue(), entry("a"))
    waiting.remove(entry("b"))
    ((taken,),) = waiting.take("zh>en", 1)
    waiting.remove(taken)
    assert len(waiting) == 0
    assert waiting.lead() is None


def test_a_group_knows_its_oldest_request() -> None:
    oldest, newer = entry("a", 9, since=1.0), entry("b", 5, since=2.0)
    waiting = filled(queue(), oldest, newer)
    assert waiting.group("zh>en") == (2, 1.0)
    waiting.remove(oldest)
    assert waiting.group("zh>en") == (1, 2.0)


@given(st.lists(st.tuples(TIERS, st.integers(1, 50)), max_size=60))
def test_inside_a_tier_no_deadline_is_passed_over(requests: list[tuple[Tier, int]]) -> None:
    waiting = filled(queue(), *(entry(str(i), due, tier) for i, (tier, due) in enumerate(requests)))
    order: dict[Tier, list[float]] = {tier: [] for tier in Tier}
    while (lead := waiting.lead()) is not None:
        waiting.take(lead.group, 1)
        order[lead.ticket.tier].append(lead.ticket.deadline)
    assert all(deadlines == sorted(deadlines) for deadlines in order.values())


class QueueRules(RuleBasedStateMachine):
    """Whatever happens: nothing lost, nothing doubled, bounds kept, the lead has its tier's earliest deadline."""

    @initialize()
    def start(self) -> None:
        self.queue = queue(max_queue_size=6, max_queue_per_flow=3)
        self.now = 0.0
        self.inside: set[Entry] = set()
        self.seen = 0

    def out(self, entries: list[Entry]) -> None:
        assert len(set(entries)) == len(entries)
        assert self.inside >= set(entries)
        self.inside -= set(entries)

    @rule(
        tier=TIERS,
        wait=st.integers(0, 5),
        flow=st.sampled_from("ab"),
        group=st.sampled_from("xy"),
        key=st.sampled_from([None, "1", "2"]),
        supersedes=st.sampled_from([None, None, "u", "v"]),
    )
    def put(self, tier: Tier, wait: int, flow: str, group: str, key: str | None, supersedes: str | None) -> None:
        self.seen += 1
        new = entry(str(self.seen), self.now + wait, tier, flow=flow, group=group, key=key, supersedes=supersedes)
        self.inside.add(new)
        self.out([dropped for dropped, _ in self.queue.put(new, self.now)])

    @rule()
    def pass_time(self) -> None:
        self.now += 1.0
        self.out(self.queue.expire(self.now))

    @precondition(lambda self: self.inside)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        gone = data.draw(st.sampled_from(sorted(self.inside, key=lambda each: int(each.name))))
        self.queue.remove(gone)
        self.inside.remove(gone)

    @precondition(lambda self: self.inside)
    @rule(rows=st.integers(1, 4))
    def take(self, rows: int) -> None:
        lead = self.queue.lead()
        assert lead is not None
        taken = self.queue.take(lead.group, rows)
        assert taken[0][0] is lead
        assert len(taken) <= rows
        assert {each.group for row in taken for each in row} == {lead.group}
        assert all(len({each.key for each in row}) == 1 for row in taken)
        self.out([each for row in taken for each in row])

    @rule()
    def clear(self) -> None:
        self.out(self.queue.clear())
        assert not self.inside

    @invariant()
    def agrees(self) -> None:
        assert len(self.queue) == len(self.inside) <= 6
        assert all(count <= 3 for count in Counter(each.ticket.flow for each in self.inside).values())
        keys = [each.ticket.supersedes for each in self.inside if each.ticket.supersedes]
        assert len(keys) == len(set(keys))
        lead = self.queue.lead()
        assert (lead is None) == (not self.inside)
        if lead is not None:
            same = [each.ticket.deadline for each in self.inside if each.ticket.tier is lead.ticket.tier]
            assert lead.ticket.deadline == min(same)


QueueRules.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestQueueRules = QueueRules.TestCase
