"""The key of this installation, with which it knows its own summaries again.

It lies in a file in holdfast's home folder, made when it is first needed and readable by its owner
alone. Machines that hand message lists to each other share one by `HOLDFAST_SUMMARY_KEY`. Where a
file cannot be kept, the key lives as long as the process: summaries of other runs are then read
as reference of unknown authorship.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from functools import cache
from tempfile import mkstemp
from typing import TYPE_CHECKING

from holdfast.config.loading import NoHome, home
from holdfast.errors import ConfigError
from holdfast.wire.provenance import check_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VARIABLE = "HOLDFAST_SUMMARY_KEY"
FILE_NAME = "summary.key"
_BYTES = 32
_FEWEST = 32
"""Characters that a key in the environment has at least."""


def installation_sign(text: str) -> str:
    """Return the check of a summary under the key of this installation."""
    return check_of(text, summary_key(os.environ))


def process_sign(text: str) -> str:
    """Return the check of a summary under a key that nobody outside this process has."""
    return check_of(text, _process_key())


def summary_key(environ: Mapping[str, str]) -> bytes:
    """Return the key: that of the environment, else that of the home folder, made if need be.

    Raises:
        ConfigError: when the environment has one that is easily guessed.
    """
    given = environ.get(VARIABLE, "").strip()
    if not given:
        try:
            return _kept_key(home(environ) / FILE_NAME)
        except NoHome:
            return _process_key()
    if len(given) < _FEWEST:
        raise ConfigError(
            f"{VARIABLE} has {len(given)} characters; it needs {_FEWEST} or more, such as those of"
            " python -c 'import secrets; print(secrets.token_hex())'"
        )
    return given.encode("utf-8", "surrogateescape")


@cache
def _process_key() -> bytes:
    return secrets.token_bytes(_BYTES)


@cache
def _kept_key(file: Path) -> bytes:
    """Return the key in a file, looked up once: what a process signed it must know again."""
    with suppress(OSError):
        if not file.exists():
            # Put a new key in place, whole or not at all; whoever was first wins.
            key = secrets.token_hex(_BYTES).encode() + b"\n"
            file.parent.mkdir(parents=True, exist_ok=True)
            descriptor, draft = mkstemp(prefix=f".{file.name}.", dir=file.parent)
            try:
                with os.fdopen(descriptor, "wb") as written:
                    written.write(key)
                os.link(draft, file)
            except FileExistsError:
                pass
            except OSError:
                # Not every file system has links; there a reader may come too early, and do
                # without.
                with os.fdopen(
                    os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
                ) as written:
                    written.write(key)
            finally:
                os.unlink(draft)
        key = file.read_bytes().strip()
        if len(key) >= _FEWEST:
            return key
    return _process_key()
