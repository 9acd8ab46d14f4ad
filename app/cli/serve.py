"""`sampan serve`: run the service until it is told to stop."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import structlog
import typer
import uvloop
from rich.console import Console

from app import logs
from app.cli.models import pull_with_progress
from app.node import Node, listen, make_models
from app.settings import Settings, SettingsError, load
from engines.errors import EngineFault
from engines.store.library import Library

app = typer.Typer(add_completion=False)
log = structlog.get_logger()


@app.command()
def serve(
    config: Annotated[Path | None, typer.Option(help="TOML file; sampan.example.toml shows every setting.")] = None,
    host: Annotated[str | None, typer.Option(help="server.host")] = None,
    port: Annotated[int | None, typer.Option(help="server.port")] = None,
) -> None:
    """Run the service. Models that are missing are pulled first."""
    logs.configure(json_lines=not sys.stderr.isatty())
    try:
        settings = load(config, os.environ, {"server.host": host, "server.port": port})
    except SettingsError as error:
        _fail("\n".join(f"  {problem}" for problem in error.problems), "these settings can't be used:")
    library = Library(Path(settings.models.folder).expanduser()) if settings.models.folder else Library()
    try:
        pull_with_progress((settings.models.mt, settings.models.asr), Console(stderr=True), library=library)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(settings, library))
    except* SettingsError as errors:
        _fail(f"  {errors.exceptions[0]}", "these settings can't be used:")
    except* EngineFault as faults:
        for fault in faults.exceptions:
            _explain(fault)
        raise typer.Exit(1) from None
    except* OSError as errors:
        _fail(f"  server.host, server.port: {errors.exceptions[0]}", "can't listen:")


async def _serve(settings: Settings, library: Library) -> None:
    listening = listen(settings.server.host, settings.server.port)
    node = Node(settings, make_models(library, settings), listening)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, node.stop)
    host, port = listening.getsockname()[:2]
    log.info("listening", url=f"http://{host}:{port}", tokens_required=settings.auth.secret is not None)
    await node.serve(lambda: log.info("ready"))


def _explain(fault: BaseException) -> None:
    if isinstance(fault, BaseExceptionGroup):
        for inner in fault.exceptions:
            _explain(inner)
    elif isinstance(fault, EngineFault):
        typer.echo(f"sampan serve: {fault.detail}\n  {fault.hint}", err=True)


def _fail(message: str, head: str) -> None:
    typer.echo(f"sampan serve: {head}\n{message}", err=True)
    raise typer.Exit(2)
