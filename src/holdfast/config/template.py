"""The configuration file that `config init` writes: every key, explained, with its default."""

from __future__ import annotations

import json
import os
import textwrap
from typing import TYPE_CHECKING

from holdfast.config.keys import KEYS
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.config.keys import Key

__all__ = ["template", "write_template"]

_OPENING = """\
# The configuration of holdfast.
# Each value below is the default: remove the "# " before a key to change it.
# An environment variable wins over this file, and a flag over both; the variable of
# compression.threshold is HOLDFAST_COMPRESSION_THRESHOLD, and so on.
"""
_WIDTH = 92
_OWNER_ONLY = 0o600


def template() -> str:
    """Return the commented file."""
    lines = [_OPENING.rstrip()]
    section: tuple[str, ...] = ()
    for path, key in KEYS.items():
        *names, leaf = path.split(".")
        lines += _headings(section, tuple(names))
        section = tuple(names)
        lines += _entry(key, leaf, "  " * len(names))
    return "\n".join(lines) + "\n"


def write_template(path: Path, *, force: bool = False) -> None:
    """Write the commented file, readable by its owner only: addresses may hold credentials.

    Raises:
        ConfigError: when the file exists and `force` is not set, or its folder is a file.
        OSError: when it cannot be written; an existing file is then as it was.
    """
    if path.exists() and not force:
        raise ConfigError(f"{path} exists; --force replaces it")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ConfigError(f"the home directory {path.parent} is not a folder") from None
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "w"
        ) as file:
            file.write(template())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _headings(before: tuple[str, ...], names: tuple[str, ...]) -> Iterator[str]:
    for depth, name in enumerate(names):
        if before[: depth + 1] != names[: depth + 1]:
            if depth == 0:
                yield ""
            yield f"{'  ' * depth}{name}:"


def _entry(key: Key, leaf: str, indent: str) -> Iterator[str]:
    about = f"{key.about} Allowed: {key.allowed}."
    width = _WIDTH - len(indent) - 2
    for line in textwrap.wrap(about, width, break_long_words=False, break_on_hyphens=False):
        yield f"{indent}# {line}"
    yield f"{indent}# {leaf}: {json.dumps(key.default)}"
