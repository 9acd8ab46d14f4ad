"""`push` and `demo`: clients that speak the public protocol only."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from loadtest.broadcaster import Broadcaster, BroadcastError
from loadtest.server import DEFAULT_SERVER, Server

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
push_app = typer.Typer(add_completion=False)
demo_app = typer.Typer(add_completion=False)

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


def main() -> None:
    """Entry point."""
    app()


if __name__ == "__main__":
    main()
