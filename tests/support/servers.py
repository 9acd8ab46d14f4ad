"""The service as its users run it: a process of its own on a free loopback port, ended by a signal."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import msgspec

ROOT = Path(__file__).parents[2]
START_S = 60.0
STOP_S = 8.0
_LOOK_S = 0.1
_URL = re.compile(r'"url": "(http://[^"]+)"')


class RunningServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is ready. `url` is its base address, `secret` what signs its tokens, if anything does."""

    url: str
    process: "subprocess.Popen[bytes]"
    secret: str | None
    errors: Path

    @property
    def stderr(self) -> str:
        """What it has written to standard error so far."""
        return self.errors.read_text(encoding="utf-8", errors="replace")

    def metric(self, name: str, **labels: str) -> float:
        """The value of a series of /metrics; 0 where it has none yet. For servers without a secret."""
        text = httpx.get(f"{self.url}/metrics", trust_env=False).raise_for_status().text
        shown = ",".join(f'{label}="{value}"' for label, value in labels.items())
        series = f"{name}{{{shown}}} " if shown else f"{name} "
        return sum(float(line.removeprefix(series)) for line in text.splitlines() if line.startswith(series))


def sampan(*arguments: str | Path, within_s: float = START_S, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of `sampan` to its end."""
    return subprocess.run(
        _command(*map(str, arguments)),
        env=_environment(environment),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )


@contextmanager
def started_server(**environment: str) -> Iterator[RunningServer]:
    """A server that listens, its models perhaps not loaded yet. It is killed where it still runs at the end."""
    settings = {"SAMPAN_SERVER_PORT": "0", **environment}
    with tempfile.TemporaryDirectory() as folder:
        errors = Path(folder) / "stderr"
        with errors.open("wb") as written:
            process = subprocess.Popen(_command("serve"), env=_environment(settings), cwd=ROOT, stderr=written)
        try:
            url = _until(process, errors, lambda: _URL.search(errors.read_text(errors="replace")))[1]
            yield RunningServer(url=url, process=process, secret=environment.get("SAMPAN_AUTH_SECRET"), errors=errors)
        finally:
            process.kill()
            process.wait()


@contextmanager
def running_server(**environment: str) -> Iterator[RunningServer]:
    """A server that is ready, with settings as in its environment (SAMPAN_AUTH_SECRET="…").

    When the block ends it gets SIGTERM and has to end with exit code 0 and without a traceback.
    """
    with started_server(**environment) as server:
        _until(server.process, server.errors, lambda: _is_ready(server.url))
        yield server
        assert stop(server) == 0, server.stderr
        assert "Traceback" not in server.stderr, server.stderr


def stop(server: RunningServer, number: int = signal.SIGTERM) -> int:
    """Send a signal and wait for the end, at most 8 s; the exit code."""
    server.process.send_signal(number)
    try:
        return server.process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"still running {STOP_S:.0f} s after the signal:\n{server.stderr}") from None


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "app.cli.main", *arguments]


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if not name.startswith("SAMPAN_")}, **settings}


def _until(process: "subprocess.Popen[bytes]", errors: Path, look: Any) -> Any:
    """What `look` finds, looked for until it does; fails when the process ends before, or after a minute."""
    for _ in range(round(START_S / _LOOK_S)):
        if found := look():
            return found
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(_LOOK_S)
            raise AssertionError(f"the server ended with {code}:\n{errors.read_text(errors='replace')}")
    raise AssertionError(f"the server was not ready after {START_S:.0f} s:\n{errors.read_text(errors='replace')}")


def _is_ready(url: str) -> bool:
    return httpx.get(f"{url}/readyz", trust_env=False).status_code == 200
