"""sampan.example.toml, written from the settings' own docstrings and defaults."""

import ast
import inspect
import sys
from typing import get_args

import msgspec
import tomli_w

from app.settings import Settings

_HEAD = """\
# Every setting of `sampan serve` with its default. Environment: SAMPAN_<SECTION>_<KEY>, which wins over this file;
# flags win over both. Written by `python -m app.settings_example`.
"""


def example() -> str:
    """The example file's text."""
    parts = [_HEAD]
    for section in msgspec.structs.fields(Settings):
        if isinstance(section.type, type):
            parts += _sections(section.name, section.type)
        else:
            (kind, *_) = get_args(section.type)
            parts.append(f"# [[{section.name}]]\n{_keys(kind, commented=True)}")
    return "\n".join(parts)


def _sections(name: str, kind: type[msgspec.Struct]) -> list[str]:
    """A section's own keys, then the sections within it."""
    keys = _keys(kind)
    parts = [f"[{name}]\n{keys}"] if keys.strip() else []
    for field in msgspec.structs.fields(kind):
        if isinstance(field.default, msgspec.Struct):
            parts += _sections(f"{name}.{field.name}", type(field.default))
    return parts


def _keys(kind: type[msgspec.Struct], *, commented: bool = False) -> str:
    docs = field_docs(kind)
    lines = []
    for field in msgspec.structs.fields(kind):
        if isinstance(field.default, msgspec.Struct):
            continue
        unset = field.default is None or field.default is msgspec.NODEFAULT
        line = f"# {field.name} =" if unset else _assignment(field.name, field.default)
        lines.append(f"# {docs[field.name]}\n{'# ' if commented and not unset else ''}{line}")
    return "\n".join(lines) + "\n"


def _assignment(name: str, value: object) -> str:
    plain = msgspec.to_builtins(value)
    return tomli_w.dumps({name: plain}).strip().replace("[\n    ", "[").replace(",\n    ", ", ").replace(",\n]", "]")


def field_docs(kind: type[msgspec.Struct]) -> dict[str, str]:
    """The string under each field, on one line. Raises KeyError by use where a field has none."""
    (definition,) = ast.parse(inspect.getsource(kind).strip()).body
    assert isinstance(definition, ast.ClassDef)
    docs = {}
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            docs[field.target.id] = " ".join(str(ast.literal_eval(text.value)).split())
    return docs


if __name__ == "__main__":
    sys.stdout.write(example())
