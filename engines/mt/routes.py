"""Routes: for each pair the best models that are there, direct or through English, and the next best when one fails."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import msgspec

from engines.batching.ticket import Done, Failed, Outcome, Shed, ShedCause, Ticket
from engines.engine import RowFailure
from engines.languages import LanguageTag
from engines.metrics import ROUTES
from engines.mt.types import Translation, TranslationRequest

ENGLISH = LanguageTag("en")
ANY_PAIR = "*"
_TRIED = 3  # routes of one request: each costs time that its deadline has not
_KEPT = 0.85  # of the worse leg's score, by going through a third language

Scores: TypeAlias = Mapping[str, float]
"""How well a model translates: BLEU on FLORES-200 by pair ("zh-Hans>en"), "*" for every other pair."""


class Submit(Protocol):
    """A batcher, as the router sees it."""

    async def submit(self, row: TranslationRequest, ticket: Ticket) -> Outcome[Translation]:
        """Translate one text."""


class Leg(msgspec.Struct, frozen=True):
    """One model's part of a route."""

    model: str
    source: LanguageTag
    target: LanguageTag


class Route(msgspec.Struct, frozen=True):
    """Models one after another, and the score that is expected of them."""

    legs: tuple[Leg, ...]
    score: float

    @property
    def name(self) -> str:
        """As metrics and ledgers call it."""
        return "+".join(leg.model for leg in self.legs)


def routes(models: Mapping[str, Scores], source: LanguageTag, target: LanguageTag) -> tuple[Route, ...]:
    """The ways from one language to another, the best first. A model that goes direct is not asked twice before."""
    direct = _legs(models, source, target)
    found = [Route((leg,), score) for leg, score in direct]
    if ENGLISH not in (source, target):
        most = {leg.model: score for leg, score in direct}
        for first, score in _legs(models, source, ENGLISH):
            for second, other in _legs(models, ENGLISH, target):
                through = _KEPT * min(score, other)
                if first.model == second.model:
                    through = min(through, most.get(first.model, through))
                found.append(Route((first, second), through))
    return tuple(sorted(found, key=lambda route: (-route.score, len(route.legs))))


def best_models(models: Mapping[str, Scores], languages: Sequence[LanguageTag]) -> list[str]:
    """The models that the best routes between some languages need, each once."""
    found: dict[str, None] = {}
    for source in languages:
        for target in languages:
            for route in routes(models, source, target)[:1] if source != target else ():
                found |= dict.fromkeys(leg.model for leg in route.legs)
    return list(found)


def _legs(models: Mapping[str, Scores], source: LanguageTag, target: LanguageTag) -> list[tuple[Leg, float]]:
    pair = f"{source}>{target}"
    scored = ((name, scores.get(pair, scores.get(ANY_PAIR))) for name, scores in models.items())
    return [(Leg(name, source, target), score) for name, score in scored if score is not None]


class Router:
    """Stands before the batchers of all translation models and is used like one."""

    def __init__(self, batchers: Mapping[str, Submit], scores: Mapping[str, Scores]) -> None:
        """Both by the models' names."""
        self._batchers = batchers
        self._scores = scores
        self._preparing = asyncio.Lock()
        self._routes: dict[tuple[LanguageTag, LanguageTag], tuple[Route, ...]] = {}  # bounded by the languages

    async def submit(self, row: TranslationRequest, ticket: Ticket) -> Outcome[Translation]:
        """As a batcher's: one outcome, at the ticket's deadline at the latest. What fails goes the next best way.

        Rows without text, which only make a pair ready, go one at a time, so that they take no places from others.
        """
        if row.text:
            return await self._translated(row, ticket)
        try:
            async with asyncio.timeout_at(ticket.deadline):
                await self._preparing.acquire()
        except TimeoutError:
            return Shed(ShedCause.DEADLINE)
        try:
            return await self._translated(row, ticket)
        finally:
            self._preparing.release()

    async def _translated(self, row: TranslationRequest, ticket: Ticket) -> Outcome[Translation]:
        outcome: Outcome[Translation] = Failed(RowFailure("unsupported_pair"))
        for route in self._ways(row)[: _TRIED if row.text else 1]:
            outcome = await self._along(route, row, ticket)
            if not isinstance(outcome, Failed):
                ROUTES.labels(row.pair, route.name).inc()
                break
        return outcome

    def _ways(self, row: TranslationRequest) -> Sequence[Route]:
        pair = row.source, row.target
        if pair not in self._routes:
            self._routes[pair] = routes(self._scores, *pair)
        return self._routes[pair]

    async def _along(self, route: Route, row: TranslationRequest, ticket: Ticket) -> Outcome[Translation]:
        text, queued_s, infer_s, tokens = row.text, 0.0, 0.0, 0
        outcome: Outcome[Translation] = Failed(RowFailure("unsupported_pair"))
        for leg in route.legs:
            draft = row.draft if leg is route.legs[-1] else ""
            asked = msgspec.structs.replace(row, text=text, source=leg.source, target=leg.target, draft=draft)
            outcome = await self._batchers[leg.model].submit(asked, ticket)
            if not isinstance(outcome, Done):
                return outcome
            text = outcome.result.text
            queued_s, infer_s = queued_s + outcome.queued_s, infer_s + outcome.infer_s
            tokens += outcome.result.tokens
        assert isinstance(outcome, Done)
        result = msgspec.structs.replace(outcome.result, route=route.name, tokens=tokens)
        return msgspec.structs.replace(outcome, result=result, queued_s=queued_s, infer_s=infer_s)
