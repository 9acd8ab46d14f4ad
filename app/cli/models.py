"""`sampan models`: which models there are, bring them, check them, delete them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TransferSpeedColumn,
)
from rich.table import Column, Table

from engines.errors import StoreFault
from engines.languages import UnknownLanguage, parse_language
from engines.mt.routes import best_models
from engines.store import download
from engines.store.library import Library

models = typer.Typer(no_args_is_help=True, help="The models: list, pull, verify, rm.")

_Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", show_default=False)]


@models.command("list")
def list_models() -> None:
    """Show every model of the catalogue and which are here."""
    console = Console()
    with _clear_errors():
        library = Library()
        installed = library.installed()
        defaults = (library.catalogue.defaults.mt, library.catalogue.defaults.asr)
        table = Table("name", "kind", "licence", "size", "installed", caption=f"in {escape(str(library.root))}")
        for model in library.catalogue.models:
            name = f"{model.name} [dim](default)[/]" if model.name in defaults else model.name
            licence = f"{escape(model.licence)} [yellow](non-commercial)[/]" if model.non_commercial else model.licence
            here = "[green]yes[/]" if model.name in installed else "no"
            table.add_row(name, model.kind.upper(), licence, _size(model.size_bytes), here)
        console.print(table)


@models.command()
def pull(
    names: _Names = None,
    languages: Annotated[
        str | None,
        typer.Option("--for", help="zh,vi,id,en: the best translation models between these that can be reached."),
    ] = None,
    accept_non_commercial: Annotated[
        bool, typer.Option("--accept-non-commercial", help="Take models whose licence forbids commercial use.")
    ] = False,
) -> None:
    """Bring models (by default the two that serve by default); go on where an earlier pull stopped."""
    console = Console()
    with _clear_errors():
        if languages is not None:
            paths = _pull_best(languages, console, accept_non_commercial=accept_non_commercial)
        else:
            paths = pull_with_progress(names or (), console, accept_non_commercial=accept_non_commercial)
    for name, path in paths.items():
        console.print(f"[green]ready[/] {name}  [dim]{escape(str(path))}[/]", soft_wrap=True)


@models.command()
def verify(names: _Names = None) -> None:
    """Read all files of models (by default of those that are here) and compare their SHA-256."""
    console = Console()
    damaged = False
    with _clear_errors():
        library = Library()
        for name in names or library.installed():
            problems = library.verify(name)
            damaged = damaged or bool(problems)
            console.print(f"{name}: " + ("[red]damaged[/]" if problems else "[green]right[/]"), soft_wrap=True)
            for problem in problems:
                console.print(f"  {escape(problem)}", soft_wrap=True)
    if damaged:
        console.print("`sampan models pull NAME` brings what is missing or damaged.", soft_wrap=True)
        raise typer.Exit(1)


@models.command()
def rm(names: Annotated[list[str], typer.Argument(metavar="NAME...", show_default=False)]) -> None:
    """Delete models, and what was half pulled of them."""
    with _clear_errors():
        library = Library()
        for name in names:
            library.remove(name)
            Console().print(f"deleted {name}", soft_wrap=True)


def _pull_best(languages: str, console: Console, *, accept_non_commercial: bool) -> dict[str, Path]:
    """Bring what the best routes between some languages need; what can't be had gives way to the next best."""
    tags = [parse_language(tag) for tag in languages.split(",")]
    catalogue = Library().catalogue
    offered = {
        model.name: model.scores
        for model in catalogue.models
        if model.kind == "mt" and (accept_non_commercial or not model.non_commercial)
    }
    brought: dict[str, Path] = {}
    while wanted := [name for name in best_models(offered, tags) if name not in brought]:
        try:
            brought |= pull_with_progress(wanted[:1], console, accept_non_commercial=accept_non_commercial)
        except StoreFault as fault:
            console.print(f"[yellow]not to be had:[/] {wanted[0]}; the next best is taken", soft_wrap=True)
            console.print(f"[dim]{escape(fault.detail)}[/]", soft_wrap=True)
            del offered[wanted[0]]
            if not offered:
                raise
    return brought


def pull_with_progress(
    names: Sequence[str], console: Console, *, library: Library | None = None, accept_non_commercial: bool = False
) -> dict[str, Path]:
    """Bring models and show a bar for each file that has to come; shows nothing where all are here.

    No names: the default MT and ASR models. Gives what an engine opens, by name. Raises StoreFault.
    """
    library = Library() if library is None else library
    defaults = library.catalogue.defaults
    wanted = [library.catalogue.model(name) for name in names or (defaults.mt, defaults.asr)]
    bars = Progress(
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", max_width=24)),
        BarColumn(bar_width=None, table_column=Column(min_width=8, ratio=1)),
        DownloadColumn(table_column=Column(no_wrap=True)),
        TransferSpeedColumn(table_column=Column(no_wrap=True)),
        TextColumn("[dim]{task.fields[source]}[/]", table_column=Column(no_wrap=True, overflow="ellipsis")),
        console=console,
        expand=True,
    )
    bringing = download.Pull(library, _Bars(bars).show, accept_non_commercial=accept_non_commercial)
    try:
        return {model.name: bringing.model(model) for model in wanted}
    finally:
        if bars.live.is_started:
            bars.stop()


class _Bars:
    """One bar a file, one line above them for each source that did not bring it."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[tuple[str, str], TaskID] = {}  # bounded by the files of the models pulled

    def show(self, progress: download.Progress) -> None:
        """Take one step of a pull. The bars appear with the first."""
        if not self._bars.live.is_started:
            self._bars.start()
        if progress.state == "waiting":
            self._bars.console.print(
                f"{progress.model}: another process is pulling it, waiting for that", soft_wrap=True
            )
            return
        if progress.state == "failed":
            why = escape(f"{progress.source}: {progress.reason}")
            self._bars.console.print(f"[dim]{escape(progress.path)} not from {why}[/]", soft_wrap=True)
            return
        key = (progress.model, progress.path)
        if key not in self._tasks:
            self._tasks[key] = self._bars.add_task(
                escape(progress.path), total=progress.size_bytes, completed=progress.held_bytes, source=progress.source
            )
        note = {"verifying": "verifying", "done": "verified"}.get(progress.state, progress.source)
        self._bars.update(self._tasks[key], completed=progress.held_bytes, source=note)


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except StoreFault as fault:
        console = Console(stderr=True)
        console.print(f"[red]error:[/] {escape(fault.detail)}", soft_wrap=True)
        console.print(escape(fault.hint), soft_wrap=True)
        raise typer.Exit(1) from fault
    except UnknownLanguage as error:
        Console(stderr=True).print(f"[red]error:[/] --for: {escape(str(error))}", soft_wrap=True)
        raise typer.Exit(2) from error


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:.2f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:.0f} MB"
