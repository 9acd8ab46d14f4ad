"""`sampan`: every sub-command named here, imported only when it is used."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

_COMMANDS = {
    "serve": ("app.cli.serve:app", "Run the service."),
    "token": ("app.cli.token:app", "Issue a token for a room."),
    "models": ("app.cli.models:models", "List, pull, verify and remove models."),
    "eval": ("app.cli.eval:app", "Score this machine's models."),
    "bench": ("loadtest.cli:bench_app", "Measure a server with real recordings."),
    "push": ("loadtest.cli:push_app", "Send a file, URL or microphone into a room as a live broadcast."),
    "demo": ("loadtest.cli:demo_app", "Play a live broadcast with comments and watch it translated."),
}


class _ByName(TyperGroup):
    """Finds a command's module by name."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _COMMANDS:
            return None
        place, short_help = _COMMANDS[cmd_name]
        module, name = place.split(":")
        command = get_command(getattr(import_module(module), name))
        command.name, command.short_help = cmd_name, short_help
        return command


app = typer.Typer(cls=_ByName, no_args_is_help=True, add_completion=False)


@app.callback()
def root() -> None:
    """Translate live streams while they happen."""


def main() -> None:
    """Entry point."""
    app()


if __name__ == "__main__":
    main()
