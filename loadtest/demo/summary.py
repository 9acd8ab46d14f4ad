"""What the run showed: one row a path, against its budget, as a table and as JSON."""

from collections.abc import Sequence
from pathlib import Path as FilePath

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from loadtest.demo.measure import Measure, Path
from loadtest.percentiles import percentile

BUDGETS_MS: dict[Path, int] = {
    Path.COMMENTS_ALONE: 1_000,
    Path.COMMENTS: 1_800,
    Path.SPEECH_FINAL: 2_000,
    Path.FIRST_SOURCE: 2_000,
}


class PathSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One path: waits in milliseconds; `within`: whether p95 keeps the budget, None where there is none or no wait."""

    path: str
    cues: int
    p50_ms: int | None
    p95_ms: int | None
    max_ms: int | None
    budget_ms: int | None
    within: bool | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The whole run. `missing` are comments and utterances whose last version has not come."""

    lang: str
    paths: tuple[PathSummary, ...]
    translated: int
    as_written: int
    untranslated: int
    missing: int
    refused: dict[str, int]


def summarise(measure: Measure, lang: str, refused: dict[str, int]) -> Summary:
    """The run so far."""
    return Summary(
        lang=lang,
        paths=tuple(_row(path, measure.samples[path]) for path in Path),
        translated=measure.translated,
        as_written=measure.as_written,
        untranslated=measure.untranslated,
        missing=measure.waiting,
        refused=refused,
    )


def write_json(summary: Summary, file: FilePath) -> None:
    """The summary as indented JSON."""
    file.write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n")


def table(summary: Summary) -> Table:
    """The summary as a table for a terminal."""
    shown = Table(
        title=f"What a reader of {summary.lang} waited (ms)",
        box=SIMPLE_HEAD,
        title_justify="left",
        collapse_padding=True,
        pad_edge=False,
    )
    shown.add_column("path")
    for column in ("cues", "p50", "p95", "max", "budget"):
        shown.add_column(column, justify="right")
    shown.add_column("verdict")
    for row in summary.paths:
        numbers = (row.p50_ms, row.p95_ms, row.max_ms, row.budget_ms)
        cells = ["–" if number is None else f"{number:,}" for number in numbers]
        shown.add_row(row.path, str(row.cues), *cells, _verdict(row.within))
    return shown


def _row(path: Path, waits: Sequence[float]) -> PathSummary:
    budget = BUDGETS_MS.get(path)
    if not waits:
        return PathSummary(path=path, cues=0, p50_ms=None, p95_ms=None, max_ms=None, budget_ms=budget, within=None)
    p95 = round(percentile(waits, 0.95) * 1000)
    return PathSummary(
        path=path,
        cues=len(waits),
        p50_ms=round(percentile(waits, 0.5) * 1000),
        p95_ms=p95,
        max_ms=round(max(waits) * 1000),
        budget_ms=budget,
        within=None if budget is None else p95 <= budget,
    )


def _verdict(within: bool | None) -> Text:
    if within is None:
        return Text("–", style="dim")
    return Text("within", style="green") if within else Text("over", style="bold red")


def counts(summary: Summary) -> str:
    """One line: how many texts came how."""
    parts = [f"{summary.translated} translated", f"{summary.as_written} shown as written"]
    if summary.untranslated:
        parts.append(f"{summary.untranslated} not translated in time")
    if summary.missing:
        parts.append(f"{summary.missing} still awaited")
    parts += [f"{count} refused ({code})" for code, count in sorted(summary.refused.items())]
    return " · ".join(parts)
