"""`push`, `demo` and `bench`: clients that speak the public protocol only."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from loadtest.broadcaster import Broadcaster, BroadcastError
from loadtest.server import DEFAULT_SERVER, Server

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
push_app = typer.Typer(add_completion=False)
demo_app = typer.Typer(add_completion=False)
bench_app = typer.Typer(add_completion=False, no_args_is_help=True, help="Measure a server with real recordings.")
app.add_typer(bench_app, name="bench")

_Token = Annotated[str | None, typer.Option(envvar="SAMPAN_TOKEN", help="A token with the scope publish.")]


@push_app.command()
@app.command()
def push(
    source: Annotated[str, typer.Argument(metavar="FILE", help='An audio or video file, a URL, or "mic".')],
    room: Annotated[str, typer.Option(help="The room to send to.")],
    server: Annotated[str, typer.Option(help="The server's address.")] = DEFAULT_SERVER,
    token: _Token = None,
) -> None:
    """Send a file, URL or microphone into a room as a live broadcast."""
    broadcaster = Broadcaster(Server(url=server, token=token), room, source)
    try:
        seconds = asyncio.run(broadcaster.run())
    except BroadcastError as error:
        typer.echo(f"push: {error}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        typer.echo(f"push: stopped after {broadcaster.seconds:.1f} s", err=True)
        return
    typer.echo(f"sent {seconds:.1f} s")


@demo_app.command()
@app.command()
def demo(
    source: Annotated[
        str | None, typer.Option("--input", help='A file, URL or "mic" in place of the sample broadcast.')
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Play to the end, print the summary, exit.")] = False,
    lang: Annotated[str, typer.Option(help="The language the terminal reads.")] = "zh-Hans",
    json: Annotated[Path | None, typer.Option(help="Write the summary to this file too.")] = None,
) -> None:
    """Play a live broadcast with comments and watch it translated."""
    from loadtest.demo.run import Options, run

    raise typer.Exit(run(Options(source=source, once=once, lang=lang, json=json)))


@bench_app.command()
def speech(
    data: Annotated[Path, typer.Option(help="A folder of recordings, with NAME.txt and NAME.pages.jsonl beside them.")],
    only: Annotated[str, typer.Option(help="Only recordings whose file names match.")] = "*",
    lang: Annotated[
        str | None, typer.Option(help="The language to read; by default Chinese, and English of what is Chinese.")
    ] = None,
    lanes: Annotated[int, typer.Option(min=1, max=64, help="Recordings played at once, each into its room.")] = 1,
    server: Annotated[str | None, typer.Option(help="A running server; by default one is started.")] = None,
    token: Annotated[
        str | None, typer.Option(envvar="SAMPAN_TOKEN", help='For --server: scopes admin, publish, view of "*".')
    ] = None,
    logs: Annotated[Path | None, typer.Option(help="Write logs in simulstream's format into this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Play recordings in real time, each followed by 4 s of silence, and report what their readers waited for."""
    from loadtest.speech.run import Options, report

    there = None if server is None else Server(url=server, token=token)
    options = Options(data=data, only=only, lang=lang, lanes=lanes, server=there, logs=logs)
    raise typer.Exit(report(options, as_json=as_json))


@bench_app.command()
def soak(
    source: Annotated[str | None, typer.Option("--input", help="What is repeated; by default the sample.")] = None,
    minutes: Annotated[float, typer.Option(min=1.0, max=10_000.0, help="How long.")] = 30.0,
    lang: Annotated[str, typer.Option(help="The language to read.")] = "zh-Hans",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Keep a room on the air for long and report whether waits or memory grow."""
    from loadtest.soak import Options, report

    raise typer.Exit(report(Options(source=source, minutes=minutes, lang=lang), as_json=as_json))


def main() -> None:
    """Entry point."""
    app()


if __name__ == "__main__":
    main()
