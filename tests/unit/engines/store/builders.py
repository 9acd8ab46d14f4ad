"""Small models for the store's tests."""

import hashlib
import random
from collections.abc import Mapping
from pathlib import Path

from engines.store.catalogue import Catalogue, Defaults, FolderOrigin, Model, ModelFile, Origin
from engines.store.library import Library


def content(size_bytes: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size_bytes)


def model_of(
    files: Mapping[str, bytes],
    *sources: Origin,
    name: str = "tiny",
    non_commercial: bool = False,
    scores: dict[str, float] | None = None,
) -> Model:
    return Model(
        name=name,
        kind="mt",
        engine="llama.cpp",
        licence="Apache-2.0",
        languages=(),
        description="",
        files=tuple(
            ModelFile(path=path, size_bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
            for path, data in files.items()
        ),
        sources=sources,
        non_commercial=non_commercial,
        scores={"*": 1.0} if scores is None else scores,
    )


def library_of(root: Path, *models: Model) -> Library:
    asr = Model(
        name="hears",
        kind="asr",
        engine="ctranslate2-whisper",
        licence="MIT",
        languages=(),
        description="",
        files=(ModelFile(path="model.bin", size_bytes=1, sha256="0" * 64),),
        sources=(FolderOrigin(folder="/nowhere"),),
    )
    return Library(root, Catalogue(defaults=Defaults(mt=models[0].name, asr=asr.name), models=(*models, asr)))


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder
