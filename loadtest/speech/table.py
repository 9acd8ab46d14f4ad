"""A report as a person reads it in a terminal."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadtest.percentiles import percentile
from loadtest.speech.pages import PagesReport
from loadtest.speech.report import ClipReport, Report, Spread, Summary


def show(report: Report, console: Console) -> None:
    """Print a row a recording, then the whole."""
    console.print(_clips(report))
    for one in report.clips:
        if one.pages is not None:
            console.print(_pages(one.clip, one.pages))
    console.print(_whole(report.summary))
    for line in _remarks(report.summary):
        console.print(line, highlight=False, soft_wrap=True)


def _clips(report: Report) -> Table:
    table = _table("Recordings (seconds)", "recording", "to")
    for column in ("first", "transl.", "source", "final", "NE", "NE tr.", "LAAL", "error", "CPU"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in report.clips:
        table.add_row(one.clip, one.lang, *_cells(one))
    return table


def _cells(one: ClipReport) -> list[str]:
    waits = (one.first_partial_s, one.first_translation_s, one.final_source_s, one.final_translation_s)
    scores = (one.ne_source, one.ne_translation, one.stream_laal_s)
    error = "–" if one.error is None else f"{one.error.rate:.1%}"
    return [*map(_number, waits), *map(_number, scores), error, _number(one.cpu_per_s)]


def _pages(clip: str, found: PagesReport) -> Text:
    pages, lags = found.pages, [page.translated_lag_s for page in found.pages if page.translated_lag_s is not None]
    said = f"{clip}: {len(pages)} pages, {sum(page.missing for page in pages)} missing, "
    said += f"{sum(page.doubled for page in pages)} doubled"
    if found.chrf is not None:
        said += f", chrF {found.chrf:.1f}"
    if lags:
        said += f", translated {percentile(lags, 0.5):.2f} s after a page's end (p50; most {max(lags):.2f})"
    return Text(said)


def _whole(summary: Summary) -> Table:
    table = _table(f"{summary.clips} recordings whose words are known (seconds)", "wait", "counted from")
    for column in ("p50", "p95", "max"):
        table.add_column(column, justify="right")
    rows: tuple[tuple[str, str, Spread], ...] = (
        ("first text", "start of speech", summary.first_partial_s),
        ("first translation", "start of speech", summary.first_translation_s),
        ("final source text", "end of speech", summary.final_source_s),
        ("final translation", "end of speech", summary.final_translation_s),
    )
    for name, since, spread in rows:
        table.add_row(name, since, *map(_number, (spread.p50, spread.p95, spread.largest)))
    return table


def _remarks(summary: Summary) -> list[Text]:
    rates = ", ".join(f"{name} {rate:.1%}" for name, rate in summary.error_rates.items())
    lags = ", ".join(f"{pair} {lag:.2f} s" for pair, lag in summary.stream_laal_s.items())
    lines = [
        Text(f"error rates: {rates or '–'}"),
        Text(f"StreamLAAL: {lags or '–'}"),
        Text(
            f"normalized erasure: {_number(summary.ne_source)}, of translations {_number(summary.ne_translation)} · "
            f"CPU {_number(summary.cpu_per_s)} s a second · {summary.untranslated} subtitles not translated in time"
        ),
    ]
    wrong = {
        "not heard": ", ".join(summary.unheard),
        "subtitles where nobody speaks": ", ".join(summary.cues_from_no_speech),
        "Traditional characters among Simplified": str(summary.traditional) if summary.traditional else "",
    }
    return lines + [Text(f"{what}: {where}", style="bold red") for what, where in wrong.items() if where]


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left", collapse_padding=True, pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
