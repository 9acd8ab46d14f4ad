"""`sampan token`: issue a token for a room."""

import os
from pathlib import Path
from typing import Annotated

import typer

from app.auth import Scope, Tokens
from app.names import ROOM_NAME
from app.settings import SettingsError, load

app = typer.Typer(add_completion=False)

_DAY_S = 24 * 3600


@app.command()
def token(
    room: Annotated[str, typer.Option(help='The room, or "*" for all.')],
    scope: Annotated[str, typer.Option(help="publish, comment, view, admin; several with commas.")],
    ttl: Annotated[int, typer.Option(help="Seconds it is good for.", min=1)] = _DAY_S,
    config: Annotated[Path | None, typer.Option(help="The server's TOML file.")] = None,
) -> None:
    """Print a token signed with auth.secret (the server's own: same file or same SAMPAN_AUTH_SECRET)."""
    try:
        settings = load(config, os.environ, {})
        scopes = frozenset(Scope(name.strip()) for name in scope.split(","))
    except SettingsError as error:
        _fail(str(error))
    except ValueError:
        _fail(f"--scope {scope!r}: allowed are {', '.join(Scope)}, several with commas")
    if room != "*" and not ROOM_NAME.fullmatch(room):
        _fail(f"--room {room!r}: 1 to 64 letters, digits, '-' and '_', or \"*\"")
    if settings.auth.secret is None:
        _fail("no auth.secret: set SAMPAN_AUTH_SECRET, or name the server's file with --config")
    typer.echo(Tokens(settings.auth.secret).issue(room=room, scopes=scopes, ttl_s=ttl))


def _fail(message: str) -> None:
    typer.echo(f"sampan token: {message}", err=True)
    raise typer.Exit(2)
