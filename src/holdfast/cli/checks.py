"""The checks of `doctor`, each a value with what was found and what to do about it."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.cli.check import Check, State
from holdfast.cli.model_checks import model_checks, needed_extras
from holdfast.cli.part_checks import part_checks
from holdfast.cli.reach_checks import reach_checks
from holdfast.cli.store_checks import store_checks
from holdfast.config import Settings, load
from holdfast.config.home import config_file, home
from holdfast.errors import ConfigError
from holdfast.views.words import crop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from holdfast.config import Setting

__all__ = ["checks"]

_LONGEST_SHOWN = 200
_OLDEST = (3, 11)
_EXTRAS = {
    "openai": ("openai", "chat and summaries with OpenAI-compatible models"),
    "anthropic": ("anthropic", "chat and summaries with Anthropic models"),
    "chat": ("prompt_toolkit", "chat in a terminal"),
    "local": ("xllamacpp", "a model on this machine"),
    "tokens": ("splintr", "exact token counts"),
    "prices": ("genai_prices", "prices and windows of public models"),
    "mem0": ("mem0", "memory in Mem0"),
    "hindsight": ("hindsight_client", "memory in Hindsight"),
    "vectors": ("safetensors", "memory by meaning, on this machine"),
}


def checks(
    environ: Mapping[str, str], flags: Sequence[Setting] = (), *, offline: bool = False
) -> tuple[Check, ...]:
    """Look at everything there is to look at; nothing is changed.

    Args:
        environ: The environment variables.
        flags: Settings that stand on the command line.
        offline: Leave out what needs a connection.
    """
    return tuple(_all(environ, flags, offline=offline))


def _all(environ: Mapping[str, str], flags: Sequence[Setting], *, offline: bool) -> Iterator[Check]:
    yield _python()
    yield _home(home(environ))
    try:
        settings = load(environ, flags).settings
    except ConfigError as error:
        yield Check("configuration", State.FAIL, str(error), f"edit {config_file(environ)}")
        settings = Settings()
    else:
        yield _configuration(config_file(environ))
    yield from model_checks(settings, environ)
    if not offline:
        yield from reach_checks(settings)
    yield from store_checks(settings, environ)
    yield from part_checks(settings, environ)
    yield from _extras(settings)


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= _OLDEST:
        return Check("python", State.OK, version)
    return Check("python", State.FAIL, version, "install Python 3.11 or newer")


def _home(folder: Path) -> Check:
    try:
        return _folder(folder)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        words = f"{crop(str(folder), _LONGEST_SHOWN)} cannot be looked into: {reason}"
        return Check("home", State.FAIL, words, "set HOLDFAST_HOME")


def _folder(folder: Path) -> Check:
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        return Check("home", State.FAIL, f"{existing} is not a folder", "set HOLDFAST_HOME")
    if not os.access(existing, os.W_OK | os.X_OK):
        return Check("home", State.WARN, f"{folder} cannot be written", "set HOLDFAST_HOME")
    return Check("home", State.OK, f"{folder}{'' if folder.exists() else ' (not made yet)'}")


def _configuration(file: Path) -> Check:
    if file.exists():
        return Check("configuration", State.OK, f"{file} is valid")
    return Check("configuration", State.OK, "defaults and environment; there is no file")


def _extras(settings: Settings) -> Iterator[Check]:
    needed = needed_extras(settings)
    for extra, (module, purpose) in _EXTRAS.items():
        if find_spec(module) is not None:
            yield Check(f"extra {extra}", State.OK, f"installed: {purpose}")
            continue
        state = State.FAIL if extra in needed else State.WARN
        advice = f"pip install 'holdfast[{extra}]'"
        yield Check(f"extra {extra}", state, f"not installed: {purpose}", advice)
