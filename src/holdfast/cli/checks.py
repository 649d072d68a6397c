"""The checks of `doctor`, each a value with what was found and what to do about it."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.cli.check import Check, State
from holdfast.cli.lines import crop
from holdfast.cli.store_checks import store_checks
from holdfast.config import Settings, load
from holdfast.config.home import config_file, home
from holdfast.errors import ConfigError
from holdfast.wiring import policy_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from holdfast.config import Setting

__all__ = ["checks", "provider_of"]

_LONGEST_SHOWN = 200
_OLDEST = (3, 11)
_EXTRAS = {
    "openai": ("openai", "summaries by OpenAI-compatible models"),
    "anthropic": ("anthropic", "summaries by Anthropic models"),
    "tokens": ("splintr", "exact token counts"),
}
_CREDENTIALS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def checks(environ: Mapping[str, str], flags: Sequence[Setting] = ()) -> tuple[Check, ...]:
    """Look at everything there is to look at; nothing is sent and nothing is changed."""
    return tuple(_all(environ, flags))


def _all(environ: Mapping[str, str], flags: Sequence[Setting]) -> Iterator[Check]:
    yield _python()
    yield _home(home(environ))
    try:
        settings = load(environ, flags).settings
    except ConfigError as error:
        yield Check("configuration", State.FAIL, str(error), f"edit {config_file(environ)}")
        settings = Settings()
    else:
        yield _configuration(config_file(environ))
    yield _window(settings)
    yield from _summary_model(settings, environ)
    yield from store_checks(settings, environ)
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


def _window(settings: Settings) -> Check:
    policy = policy_of(settings)
    words = f"{policy.context_length:,} tokens, compaction is due at {policy.threshold_tokens:,}"
    if settings.model.context_length is None and settings.model.name:
        advice = f"set model.context_length to the window of {settings.model.name}"
        return Check("window", State.WARN, f"assumed: {words}", advice)
    return Check("window", State.OK, words)


def _summary_model(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    chosen = settings.auxiliary.compression
    if chosen.model is None:
        yield Check("summary model", State.OK, "none: the record is made without a model")
        return
    provider = provider_of(chosen.model, chosen.provider)
    yield _summary_window(settings, f"{chosen.model} ({provider})")
    if chosen.base_url:
        yield Check("credential", State.OK, f"none is sent to {_host(chosen.base_url)}")
        return
    variable = _CREDENTIALS[provider]
    if environ.get(variable, "").strip():
        yield Check("credential", State.OK, f"{variable} is set")
    else:
        yield Check("credential", State.FAIL, f"{variable} is not set", f"export {variable}")


def _summary_window(settings: Settings, named: str) -> Check:
    policy, window = policy_of(settings), settings.auxiliary.compression.context_length
    if window is None:
        words = f"its requests are sized for {policy.context_length:,} tokens"
        return Check("summary model", State.OK, f"{named}; {words} until it states its window")
    if window < policy.threshold_tokens:
        return Check(
            "summary model",
            State.WARN,
            f"{named}; its window of {window:,} tokens is under the threshold of "
            f"{policy.threshold_tokens:,}, so long sessions are summarized in several requests",
            "choose a model with a larger window, or lower compression.threshold",
        )
    return Check("summary model", State.OK, f"{named}; its window is {window:,} tokens")


def provider_of(model: str, provider: str) -> str:
    """Return who serves a model, by its setting or else by its name."""
    if provider != "auto":
        return provider
    return "anthropic" if model.startswith(("anthropic/", "claude")) else "openai"


def _extras(settings: Settings) -> Iterator[Check]:
    chosen = settings.auxiliary.compression
    needed = provider_of(chosen.model, chosen.provider) if chosen.model else ""
    for extra, (module, purpose) in _EXTRAS.items():
        if find_spec(module) is not None:
            yield Check(f"extra {extra}", State.OK, f"installed: {purpose}")
            continue
        state = State.FAIL if extra == needed else State.WARN
        advice = f"pip install 'holdfast[{extra}]'"
        yield Check(f"extra {extra}", state, f"not installed: {purpose}", advice)


def _host(address: str) -> str:
    """Return the server of an address, without a credential that may stand in it."""
    return address.partition("://")[2].partition("/")[0].rpartition("@")[2]
