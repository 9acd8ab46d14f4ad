"""`sampan eval`: how well the models of this machine translate, scored on a file of references."""

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from app.cli.models import pull_with_progress
from app.evaluation import EvaluationError, Line, Scores, other_systems, parse_pair, read_lines, score
from app.models import TranslationEngine, translation_engine
from app.settings import ModelSettings
from engines.batching.batcher import Batcher
from engines.batching.policy import BatchingSettings
from engines.batching.ticket import Done, Outcome, Ticket, Tier
from engines.cores import Cores
from engines.errors import EngineFault
from engines.languages import LanguageTag, UnknownLanguage
from engines.mt.types import Translation, TranslationRequest
from engines.store.library import Library

app = typer.Typer(no_args_is_help=True, help="Score this machine's models.")

_DEADLINE_S = 24 * 3600.0  # nobody waits: a slow machine is measured, not cut short


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What `--json` prints: the engine's scores and, beside them, those of the systems whose outputs the file has."""

    pair: str
    lines: int
    engine: str
    model: str
    seconds: float
    tokens_per_second: float
    failed: dict[str, int]
    scores: Scores
    others: dict[str, Scores]


@app.callback()
def root() -> None:
    """Keep `mt` a sub-command of its own."""


@app.command()
def mt(
    data: Annotated[Path, typer.Option(help="JSON Lines: src, ref and other systems' outputs; or texts by language.")],
    pair: Annotated[str, typer.Option(help="zh-en, zh-Hans-vi, …")],
    engine: Annotated[
        str | None, typer.Option(help="A model of the catalogue; by default the one that serves.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first lines.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Translate a file's lines and score the answers, beside other systems' answers to the same lines."""
    console = Console(stderr=True)
    try:
        source, target = parse_pair(pair)
        lines = read_lines(data, source, target, limit)
        report = asyncio.run(_translate_and_score(engine, lines, (source, target), console))
    except (EvaluationError, EngineFault) as error:
        console.print(f"[red]error:[/] {error.detail}\n{error.hint}", soft_wrap=True)
        raise typer.Exit(1) from error
    except UnknownLanguage as error:
        console.print(f"[red]error:[/] --pair {pair}: {error}", soft_wrap=True)
        raise typer.Exit(2) from error
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        _show(report)


async def _translate_and_score(
    model: str | None, lines: Sequence[Line], pair: tuple[LanguageTag, LanguageTag], console: Console
) -> Report:
    engine = _engine(model, console)
    async with Batcher(engine, BatchingSettings(max_queue_size=65_536, max_queue_per_flow=65_536)) as batcher:
        try:
            await engine.warm()
            await batcher.submit(TranslationRequest(text="", source=pair[0], target=pair[1]), _ticket())
            began = time.monotonic()
            outcomes = await _all(batcher, lines, pair, console)
            took_s = time.monotonic() - began
        finally:
            await engine.close()
    done = [outcome.result if isinstance(outcome, Done) else None for outcome in outcomes]
    reasons = [str(outcome) for outcome in outcomes if not isinstance(outcome, Done)]
    # As viewers see it: where there is no translation the source is shown.
    answers = [line.source if answer is None else answer.text for answer, line in zip(done, lines, strict=True)]
    return Report(
        pair=f"{pair[0]}>{pair[1]}",
        lines=len(lines),
        engine=engine.name,
        model=engine.version,
        seconds=round(took_s, 2),
        tokens_per_second=round(sum(answer.tokens for answer in done if answer is not None) / took_s, 2),
        failed={reason: reasons.count(reason) for reason in sorted(set(reasons))},
        scores=score(answers, lines, pair[1]),
        others={name: score(said, lines, pair[1]) for name, said in other_systems(lines).items()},
    )


async def _all(
    batcher: Batcher[TranslationRequest, Translation],
    lines: Sequence[Line],
    pair: tuple[LanguageTag, LanguageTag],
    console: Console,
) -> list[Outcome[Translation]]:
    source, target = pair
    async with asyncio.TaskGroup() as tasks:
        asked = [
            tasks.create_task(
                batcher.submit(TranslationRequest(text=line.source, source=source, target=target), _ticket())
            )
            for line in lines
        ]
        for task in track(asked, "translating", console=console, transient=True):
            await task
    return [task.result() for task in asked]


def _engine(model: str | None, console: Console) -> TranslationEngine:
    library = Library()
    settings = ModelSettings(mt_slots=16)
    entry = library.catalogue.model(model or settings.mt)
    pull_with_progress([entry.name], console, library=library)
    return translation_engine(library, entry, settings, Cores(len(os.sched_getaffinity(0))))


def _ticket() -> Ticket:
    deadline = asyncio.get_running_loop().time() + _DEADLINE_S
    return Ticket(flow="eval", tier=Tier.BACKGROUND, deadline=deadline)


def _show(report: Report) -> None:
    caption = f"{report.lines} lines in {report.seconds:.0f} s, {report.tokens_per_second:.0f} tokens/s"
    if report.failed:
        caption += "; not translated: " + ", ".join(f"{count} {why}" for why, count in report.failed.items())
    table = Table("system", title=report.pair, caption=caption)
    for head in ("BLEU", "chrF", "wrong script", "untranslated", "empty"):
        table.add_column(head, justify="right")
    rows = {f"[bold]{report.model}[/]": report.scores} | report.others
    for name, scores in sorted(rows.items(), key=lambda row: -row[1].chrf):
        shares = (scores.wrong_script, scores.untranslated, scores.empty)
        table.add_row(name, f"{scores.bleu:.1f}", f"{scores.chrf:.1f}", *(f"{share:.1%}" for share in shares))
    Console().print(table)
