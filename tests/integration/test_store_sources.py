"""The model store against real web servers on loopback."""

import socket
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from engines.errors import StoreFault
from engines.store.catalogue import HttpsOrigin, HubOrigin, ModelScopeOrigin
from engines.store.download import Progress, Pull
from tests.integration.store_pulls import DATA, QUICK, pull_file, refused_url
from tests.unit.engines.store.builders import content, library_of, model_of

pytestmark = pytest.mark.integration


class FileServer(ThreadingHTTPServer):
    """Serves `files` with ranges; cuts each answer off after `cut_after` bytes; notes what was asked for."""

    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes], *, cut_after: int | None = None, ranges: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.files = dict(files)
        self.cut_after = cut_after
        self.ranges = ranges
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are part of the tests."""


class _Answers(BaseHTTPRequestHandler):
    server: FileServer

    def do_GET(self) -> None:
        wanted = self.headers.get("range")
        self.server.asked.append((self.path, wanted))
        if self.path.startswith("/redirect/"):
            self.send_response(302)
            self.send_header("location", self.path.removeprefix("/redirect"))
            self.send_header("content-length", "0")
            self.end_headers()
            return
        data = self.server.files.get(self.path)
        if data is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.server.ranges else 0
        self.send_response(206 if start else 200)
        if start:
            self.send_header("content-range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("content-length", str(len(data) - start))
        self.end_headers()
        cut = len(data) if self.server.cut_after is None else start + self.server.cut_after
        self.wfile.write(data[start:cut])

    def log_message(self, *args: object) -> None:
        """Nothing on the test's screen."""


@pytest.fixture
def serve() -> Iterator[object]:
    servers: list[FileServer] = []
    threads: list[threading.Thread] = []

    def start(files: Mapping[str, bytes], **options: object) -> FileServer:
        server = FileServer(files, **options)
        servers.append(server)
        threads.append(threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}))
        threads[-1].start()
        return server

    yield start
    for server, thread in zip(servers, threads, strict=True):
        server.shutdown()
        server.server_close()
        thread.join()


def failures(told: list[Progress]) -> list[str]:
    return [progress.reason for progress in told if progress.state == "failed"]


def test_hub_and_modelscope_files_are_asked_for_by_repository_and_revision(tmp_path: Path, serve) -> None:
    server = serve({"/o/m/resolve/abc/model.bin": DATA, "/models/o/m/resolve/master/model.bin": DATA})
    pull_file(tmp_path / "hub", HubOrigin(base=server.url, repo="o/m", revision="abc"))
    pull_file(tmp_path / "scope", ModelScopeOrigin(base=server.url, repo="o/m", revision="master"))
    assert len(server.asked) == 2


def test_redirects_are_followed(tmp_path: Path, serve) -> None:
    server = serve({"/model.bin": DATA})
    pull_file(tmp_path, HttpsOrigin(files_url=f"{server.url}/redirect"))
    assert [path for path, _ in server.asked] == ["/redirect/model.bin", "/model.bin"]


def test_a_connection_cut_off_is_taken_up_where_it_ended(tmp_path: Path, serve) -> None:
    server = serve({"/model.bin": DATA}, cut_after=100_000)
    told = pull_file(tmp_path, HttpsOrigin(files_url=server.url))
    assert failures(told) == []
    assert [wanted for _, wanted in server.asked] == [None, "bytes=100000-", "bytes=200000-"]
    held = [progress.held_bytes for progress in told]
    assert held == sorted(held)


def test_a_pull_given_up_half_way_is_gone_on_with_by_the_next_from_another_source(tmp_path: Path, serve) -> None:
    dying = serve({"/model.bin": DATA}, cut_after=20_000)
    model = model_of({"model.bin": DATA}, HttpsOrigin(files_url=dying.url))
    with pytest.raises(StoreFault, match="cut off 5 times"):
        Pull(library_of(tmp_path, model), patience=QUICK).model(model)
    whole = serve({"/model.bin": DATA})
    pull_file(tmp_path, HttpsOrigin(files_url=whole.url))
    assert whole.asked == [("/model.bin", "bytes=100000-")]
    assert not (tmp_path / "tiny" / ".partial").exists()


def test_a_server_without_ranges_sends_the_file_from_its_beginning(tmp_path: Path, serve) -> None:
    (tmp_path / "tiny/.partial").mkdir(parents=True)
    (tmp_path / "tiny/.partial/model.bin.part").write_bytes(DATA[:1000])
    server = serve({"/model.bin": DATA}, ranges=False)
    pull_file(tmp_path, HttpsOrigin(files_url=server.url))
    assert server.asked == [("/model.bin", "bytes=1000-")]


def test_a_spoilt_half_is_thrown_away_and_its_source_asked_from_the_beginning(tmp_path: Path, serve) -> None:
    (tmp_path / "tiny/.partial").mkdir(parents=True)
    (tmp_path / "tiny/.partial/model.bin.part").write_bytes(b"x" * 1000)
    server = serve({"/model.bin": DATA})
    told = pull_file(tmp_path, HttpsOrigin(files_url=server.url))
    assert [wanted for _, wanted in server.asked] == ["bytes=1000-", None]
    assert failures(told) == []


def test_wrong_bytes_another_size_and_no_file_each_lead_to_the_next_source(tmp_path: Path, serve) -> None:
    wrong, long, none = serve({"/model.bin": content(300_000, seed=2)}), serve({"/model.bin": DATA + b"x"}), serve({})
    good = serve({"/model.bin": DATA})
    origins = [HttpsOrigin(files_url=server.url) for server in (wrong, long, none, good)]
    assert failures(pull_file(tmp_path, *origins)) == [
        "sent another file: its SHA-256 is wrong",
        "offers 300,001 bytes, not 300,000",
        "answers 404 Not Found",
    ]


def test_refused_unknown_and_silent_servers_are_each_asked_once_for_all_files(tmp_path: Path, serve) -> None:
    files = {"a": b"1" * 100, "b": b"2" * 100}
    good = serve({f"/{path}": data for path, data in files.items()})
    with socket.create_server(("127.0.0.1", 0)) as silent:
        origins = [
            HttpsOrigin(files_url=refused_url()),
            HttpsOrigin(files_url="http://models.invalid"),
            HttpsOrigin(files_url=f"http://127.0.0.1:{silent.getsockname()[1]}"),
            HttpsOrigin(files_url=good.url),
        ]
        told = pull_file(tmp_path, *origins, files=files)
    assert len(failures(told)) == 3
    assert failures(told)[2] == "no answer within 0.5 s"
