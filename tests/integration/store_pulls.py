"""A pull of one tiny model from given sources, for the store's integration tests."""

import socket
from collections.abc import Mapping
from pathlib import Path

from engines.store.catalogue import Origin
from engines.store.download import Progress, Pull
from engines.store.sources import Patience
from tests.unit.engines.store.builders import content, library_of, model_of

QUICK = Patience(contact_s=0.5, silence_s=10.0)
DATA = content(300_000)


def refused_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def pull_file(root: Path, *sources: Origin, files: Mapping[str, bytes] | None = None) -> list[Progress]:
    model = model_of({"model.bin": DATA} if files is None else files, *sources)
    library = library_of(root, model)
    told: list[Progress] = []
    Pull(library, told.append, patience=QUICK).model(model)
    assert library.verify("tiny") == ()
    return told
