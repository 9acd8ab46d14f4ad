"""Brings models into the library: resumes, verifies, goes on to the next source, tells how far it is."""

import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from engines.errors import StoreFault
from engines.store.catalogue import Model, ModelFile
from engines.store.library import Library, is_right, size_of
from engines.store.sources import Patience, Source, SourceFailed, open_source

_LOCK_PATIENCE_S = 15 * 60.0
_SPARE_BYTES = 256 << 20


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far one file is.

    `waiting`: another process pulls this model. `fetching`: bytes of `source` arrive. `failed`: `source` did not
    bring it, `reason` says why; the next one is tried. `done`: it lies in the library, verified.
    """

    model: str
    state: Literal["waiting", "fetching", "verifying", "failed", "done"]
    path: str = ""
    source: str = ""
    held_bytes: int = 0
    size_bytes: int = 0
    reason: str = ""


Watch: TypeAlias = Callable[[Progress], None]


def pull(model: Model, library: Library, watch: Watch) -> Path:
    """Bring one model; as Pull.model."""
    return Pull(library, watch).model(model)


class Pull:
    """One go at bringing models. A source that could not be reached is not asked again in it."""

    def __init__(
        self,
        library: Library,
        watch: Watch = lambda progress: None,
        *,
        patience: Patience | None = None,
        accept_non_commercial: bool = False,
    ) -> None:
        self._library = library
        self._watch = watch
        self._patience = Patience() if patience is None else patience
        self._accept_non_commercial = accept_non_commercial
        self._unreachable: dict[str, str] = {}

    def model(self, model: Model) -> Path:
        """Bring a model of the library's catalogue and give what an engine opens (Library.path).

        Files that are there and right are left alone; half a file is gone on with. A second pull of the same
        model waits for the first, up to 15 minutes. Blocks. Raises StoreFault.
        """
        if model.non_commercial and not self._accept_non_commercial:
            raise StoreFault(
                f"{model.name} may not be used commercially ({model.licence})",
                hint="If that suits you, say so with --accept-non-commercial.",
            )
        try:
            if self._library.wanting(model):
                self._bring(model)
            return self._library.path(model.name)
        except OSError as fault:
            raise StoreFault(
                f"cannot write to {self._library.root}: {fault.strerror or fault}",
                hint="Free or unlock that folder, or set SAMPAN_MODELS to another one.",
            ) from fault

    def _bring(self, model: Model) -> None:
        def wait() -> None:
            self._watch(Progress(model=model.name, state="waiting"))

        with self._library.lock(model.name, patience_s=_LOCK_PATIENCE_S, on_wait=wait), ExitStack() as stack:
            wanting = self._library.wanting(model)
            work = self._library.folder(model.name) / ".partial"
            work.mkdir(parents=True, exist_ok=True)
            self._require_space(model, wanting, work)
            sources = [
                stack.enter_context(closing(open_source(origin, work, self._patience))) for origin in model.sources
            ]
            for file in wanting:
                self._file(model, file, sources, work)
            shutil.rmtree(work)

    def _file(self, model: Model, file: ModelFile, sources: Sequence[Source], work: Path) -> None:
        part = _part(work, file)
        failures: list[str] = []
        for source in sources:
            told = Progress(model=model.name, state="fetching", path=file.path, source=source.name)
            told = msgspec.structs.replace(told, size_bytes=file.size_bytes)
            if source.name in self._unreachable:
                failures.append(f"{source.name}: {self._unreachable[source.name]}")
                continue
            try:
                self._from(source, file, part, told)
            except SourceFailed as failed:
                failures.append(f"{source.name}: {failed.reason}")
                if failed.unreachable:
                    self._unreachable[source.name] = failed.reason
                self._watch(msgspec.structs.replace(told, state="failed", reason=failed.reason))
                continue
            target = self._library.folder(model.name) / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            part.replace(target)
            self._library.seal(model, file)
            self._watch(msgspec.structs.replace(told, state="done", held_bytes=file.size_bytes))
            return
        raise StoreFault(
            "\n  ".join([f"{file.path} of {model.name} came from none of its sources:", *failures]),
            hint=f"Connect this machine to one of them; or copy the folder {model.name} from a machine that has it "
            f"into {self._library.root}; or set SAMPAN_MODELS to a folder that holds it.",
        )

    def _from(self, source: Source, file: ModelFile, part: Path, told: Progress) -> None:
        """Complete `part` from one source, and leave none that is wrong. Raises SourceFailed."""

        def report(held_bytes: int) -> None:
            self._watch(msgspec.structs.replace(told, held_bytes=held_bytes))

        while True:
            begun_elsewhere = (held := size_of(part) or 0) > 0
            if held > file.size_bytes:
                part.unlink()
                held = 0
            if held < file.size_bytes:
                report(held)
                source.fetch(file, part, report)
            self._watch(msgspec.structs.replace(told, state="verifying", held_bytes=file.size_bytes))
            if is_right(part, file):
                return
            part.unlink(missing_ok=True)
            if not begun_elsewhere:
                raise SourceFailed("sent another file: its SHA-256 is wrong")

    def _require_space(self, model: Model, wanting: Sequence[ModelFile], work: Path) -> None:
        held = sum(size_of(_part(work, file)) or 0 for file in wanting)
        needed = sum(file.size_bytes for file in wanting) - held + _SPARE_BYTES
        free = shutil.disk_usage(work).free
        if needed > free:
            raise StoreFault(
                f"{model.name} needs {needed / 1e9:.1f} GB in {self._library.root}, {free / 1e9:.1f} GB are free",
                hint="Free some space, or set SAMPAN_MODELS to a folder on a larger disk.",
            )


def _part(work: Path, file: ModelFile) -> Path:
    return work / (file.path.replace("/", "__") + ".part")
