"""The folder where models lie: which are there, whether they are whole, and who may change them now."""

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from engines.errors import StoreFault
from engines.store.catalogue import Catalogue, Model, ModelFile, is_name, load_catalogue

_POLL_S = 0.2


class Seal(msgspec.Struct, frozen=True):
    """What a file looked like when its SHA-256 was last found right; while it looks so, it isn't read again."""

    sha256: str
    size_bytes: int
    modified_ns: int


def library_root(environ: Mapping[str, str] | None = None) -> Path:
    """SAMPAN_MODELS, else $XDG_CACHE_HOME/sampan/models, else ~/.cache/sampan/models."""
    environ = os.environ if environ is None else environ
    if own := environ.get("SAMPAN_MODELS"):
        return Path(own).expanduser()
    cache = environ.get("XDG_CACHE_HOME", "")
    # The XDG specification has relative paths ignored.
    return (Path(cache) if cache.startswith("/") else Path.home() / ".cache") / "sampan" / "models"


class Library:
    """Models on disk, one folder each under `root`."""

    def __init__(self, root: Path | None = None, catalogue: Catalogue | None = None) -> None:
        self.root = library_root() if root is None else root
        self.catalogue = load_catalogue() if catalogue is None else catalogue

    def folder(self, name: str) -> Path:
        """Where a model of that name lies or will lie. Raises StoreFault for a name that leaves the root."""
        if not is_name(name):
            raise StoreFault(f"{name[:80]!r} cannot be a model's name", hint="See `sampan models list`.")
        return self.root / name

    def path(self, name: str) -> Path:
        """What an engine opens: the file of a one-file model, else the model's folder.

        Raises StoreFault if the name is unknown or the model is not installed.
        """
        model = self.catalogue.model(name)
        if not self.holds(model):
            raise StoreFault(f"{name} is not in {self.root}", hint=f"Run `sampan models pull {name}`.")
        folder = self.folder(name)
        return folder / model.files[0].path if len(model.files) == 1 else folder

    def holds(self, model: Model) -> bool:
        """Whether all files of a model are there in their right size; a quick look, nothing is read."""
        folder = self.folder(model.name)
        return all(size_of(folder / file.path) == file.size_bytes for file in model.files)

    def installed(self) -> tuple[str, ...]:
        """The names of the catalogue's models that are here."""
        return tuple(model.name for model in self.catalogue.models if self.holds(model))

    def wanting(self, model: Model) -> tuple[ModelFile, ...]:
        """The files of a model that are missing or wrong. A file not sealed since it last changed is read."""
        folder = self.folder(model.name)
        seals = _read_seals(folder)
        wanting: list[ModelFile] = []
        for file in model.files:
            seal = _look(folder / file.path, file)
            if seal is None or (seals.get(file.path) != seal and not is_right(folder / file.path, file)):
                wanting.append(file)
            else:
                seals[file.path] = seal
        _write_seals(folder, seals)
        return tuple(wanting)

    def seal(self, model: Model, file: ModelFile) -> None:
        """Note that a file has just been read and found right."""
        folder = self.folder(model.name)
        if seal := _look(folder / file.path, file):
            _write_seals(folder, _read_seals(folder) | {file.path: seal})

    def verify(self, name: str) -> tuple[str, ...]:
        """Read every file of a model and say what is wrong, a line each. Raises StoreFault for an unknown name."""
        folder = self.folder(name)
        problems: list[str] = []
        for file in self.catalogue.model(name).files:
            size_bytes = size_of(folder / file.path)
            if size_bytes is None:
                problems.append(f"{file.path} is missing")
            elif size_bytes != file.size_bytes:
                problems.append(f"{file.path} has {size_bytes:,} bytes, not {file.size_bytes:,}")
            elif not is_right(folder / file.path, file):
                problems.append(f"{file.path} is damaged: its SHA-256 differs")
        return tuple(problems)

    def remove(self, name: str) -> None:
        """Delete a model and what was half pulled of it.

        Raises StoreFault if it isn't there, is being pulled now, or its name leaves the root.
        """
        folder = self.folder(name)
        if folder.is_symlink():
            folder.unlink()
            return
        if not folder.is_dir():
            raise StoreFault(f"{name} is not in {self.root}", hint="See `sampan models list`.")
        with self.lock(name, patience_s=0.0):
            shutil.rmtree(folder)

    @contextmanager
    def lock(self, name: str, *, patience_s: float, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Keep other processes from changing a model. Waits up to `patience_s`, then raises StoreFault."""
        locks = self.root / ".locks"
        locks.mkdir(parents=True, exist_ok=True)
        with (locks / f"{self.folder(name).name}.lock").open("w") as file:
            for turn in range(1 + round(patience_s / _POLL_S)):
                with suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                if turn == 0:
                    on_wait()
                time.sleep(_POLL_S)
            else:
                raise StoreFault(f"another process is changing {name}", hint="Try again when it has ended.")
            yield


def size_of(path: Path) -> int | None:
    """The size of a file in bytes, None where there is none."""
    return path.stat().st_size if path.is_file() else None


def is_right(path: Path, file: ModelFile) -> bool:
    """Whether a file on disk is the one the catalogue means: size and SHA-256. Reads all of it."""
    if size_of(path) != file.size_bytes:
        return False
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == file.sha256


def _look(path: Path, file: ModelFile) -> Seal | None:
    if size_of(path) != file.size_bytes:
        return None
    return Seal(file.sha256, file.size_bytes, path.stat().st_mtime_ns)


def _read_seals(folder: Path) -> dict[str, Seal]:
    try:
        return msgspec.json.decode((folder / ".seals.json").read_bytes(), type=dict[str, Seal])
    except (OSError, msgspec.MsgspecError):
        return {}  # without seals the files are read, nothing worse


def _write_seals(folder: Path, seals: dict[str, Seal]) -> None:
    # A library may be read-only (an image, a share): then files are read at every start.
    with suppress(OSError):
        if seals and seals != _read_seals(folder):
            (folder / ".seals.json").write_bytes(msgspec.json.encode(seals))
