"""The checks of `doctor`: each a value with what was found and what to do about it."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.cli.flags import now_ms
from holdfast.config import Settings, load
from holdfast.config.loading import config_file, home
from holdfast.conversation.lease import why_void
from holdfast.errors import ConfigError, HoldfastError, StoreError
from holdfast.ports import Capability
from holdfast.providers.local_model import MODELS, find
from holdfast.providers.provider_errors import SERVER_KEY
from holdfast.tokens import family_of
from holdfast.views.words import clock_time, counted, crop
from holdfast.wiring import policy_of
from holdfast.wiring.models import LOCAL_MODEL, LOCAL_WINDOW, is_local, known_window, provider_of
from holdfast.wiring.stores import file_behind, store_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from holdfast.config import Setting
    from holdfast.wiring.upkeep import QuickCheck

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
    "gateway": ("uvicorn", "a proxy under agents: holdfast serve"),
    "telemetry": ("opentelemetry", "spans of the gateway"),
}
_WRITTEN_BY = {
    "auto": "none: where the conversation's own model can be asked, it writes the record",
    "main": "the conversation's own",
    "none": "none: the record is made without a model",
}
_CREDENTIALS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_HOMES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_PORTS = {"http": 80, "https": 443}
_PATIENCE = 3.0
_REPAIR = "holdfast doctor --repair"
_TAKEN_OVER = "nothing is lost: the next compaction takes the lease over"
_SCARCE = 100 << 20
"""Bytes of free space under which a store is in danger."""
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


class CheckState(StrEnum):
    """How a check went."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: CheckState
    words: str
    advice: str = ""


def checks(settings: Settings, environ: Mapping[str, str], *, offline: bool) -> Iterator[Check]:
    """Look at everything there is to look at; nothing is changed.

    Args:
        offline: Leave out what needs a connection.
    """
    yield from model_checks(settings, environ)
    if not offline:
        yield from reach_checks(settings)
    yield from store_checks(settings, environ)
    yield from part_checks(settings, environ)
    # Without these extras the models of the settings cannot be asked.
    model, summary = settings.model, settings.auxiliary.compression
    needed = frozenset(
        provider_of(name, each.provider, each.base_url)[0]
        for name, each in ((model.name, model), (summary.separate, summary))
        if name
    )
    for extra, (module, purpose) in _EXTRAS.items():
        if find_spec(module) is not None:
            yield Check(f"extra {extra}", CheckState.OK, f"installed: {purpose}")
            continue
        state = CheckState.FAIL if extra in needed else CheckState.WARN
        advice = f"pip install 'holdfast[{extra}]'"
        yield Check(f"extra {extra}", state, f"not installed: {purpose}", advice)


def basic_checks(
    environ: Mapping[str, str], flags: Sequence[Setting]
) -> tuple[list[Check], Settings]:
    """Look at Python, the home folder and the configuration; return what is configured, too.

    Where that cannot be read, the defaults stand for it, so that the other checks go on.
    """
    version = ".".join(map(str, sys.version_info[:3]))
    found = [Check("python", CheckState.OK, version)]
    if sys.version_info < _OLDEST:
        found = [Check("python", CheckState.FAIL, version, "install Python 3.11 or newer")]
    found.append(_home_folder(home(environ)))
    try:
        settings = load(environ, flags).settings
    except ConfigError as error:
        advice = f"edit {config_file(environ)}"
        found.append(Check("configuration", CheckState.FAIL, str(error), advice))
        return found, Settings()
    file = config_file(environ)
    words = f"{file} is valid" if file.exists() else "defaults and environment; there is no file"
    found.append(Check("configuration", CheckState.OK, words))
    return found, settings


def _home_folder(folder: Path) -> Check:
    try:
        existing = folder
        while not existing.exists() and existing != existing.parent:
            existing = existing.parent
        if not existing.is_dir():
            return Check(
                "home", CheckState.FAIL, f"{existing} is not a folder", "set HOLDFAST_HOME"
            )
        if not os.access(existing, os.W_OK | os.X_OK):
            return Check(
                "home", CheckState.WARN, f"{folder} cannot be written", "set HOLDFAST_HOME"
            )
        return Check(
            "home", CheckState.OK, f"{folder}{'' if folder.exists() else ' (not made yet)'}"
        )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        words = f"{crop(str(folder), _LONGEST_SHOWN)} cannot be looked into: {reason}"
        return Check("home", CheckState.FAIL, words, "set HOLDFAST_HOME")


def model_checks(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Look at the conversation's model and at the one that writes summaries."""
    name, model = settings.model.name, settings.model
    if not name:
        words = f"{_due(settings)}; the chat's model on this machine takes {LOCAL_WINDOW:,}"
        yield Check("window", CheckState.OK, words)
    else:
        known = known_window(name, model.provider)
        if model.context_length is None and known is None:
            advice = f"set model.context_length to the window of {name}"
            yield Check("window", CheckState.WARN, f"assumed: {_due(settings)}", advice)
        elif known is not None and (model.context_length or 0) > known:
            advice = f"set model.context_length to {known} or less"
            words = f"{_due(settings)}; {name} takes {known:,}"
            yield Check("window", CheckState.WARN, words, advice)
        else:
            listed = f"as listed for {name}: " if model.context_length is None else ""
            yield Check("window", CheckState.OK, f"{listed}{_due(_settled(settings))}")
    if name is None or is_local(name, model.provider, model.base_url):
        yield _local_model("model", environ, is_chosen=name is not None)
    else:
        provider, _ = provider_of(name, model.provider, model.base_url)
        yield Check("model", CheckState.OK, f"{name} ({provider})")
        yield _credential("model credential", provider, model.base_url, environ)
    chosen = settings.auxiliary.compression
    if chosen.separate is None:
        words = _WRITTEN_BY[chosen.provider if chosen.provider in _WRITTEN_BY else "auto"]
        state, advice = CheckState.OK, ""
        if chosen.provider == "main" and not name:
            state, advice = CheckState.WARN, "name it with model.name"
        yield Check("summary model", state, words, advice)
        return
    provider, _ = provider_of(chosen.separate, chosen.provider, chosen.base_url)
    yield _summary_window(settings, f"{chosen.separate} ({provider})")
    if is_local(chosen.separate, chosen.provider, chosen.base_url):
        yield _local_model("summary model file", environ, is_chosen=True)
        return
    yield _credential("credential", provider, chosen.base_url, environ)


def _settled(settings: Settings) -> Settings:
    """Return the settings with the window that is known of the model, where none is set."""
    model = settings.model
    known = known_window(model.name, model.provider) if model.name else None
    window = model.context_length or known
    return replace(settings, model=replace(model, context_length=window))


def _due(settings: Settings) -> str:
    policy = policy_of(settings)
    return f"{policy.context_length:,} tokens, compaction is due at {policy.threshold_tokens:,}"


def _local_model(name: str, environ: Mapping[str, str], *, is_chosen: bool) -> Check:
    """Say whether the model on this machine can be asked: its file and what runs it are here."""
    # Without a model in the settings the chat wants it, and nothing else does.
    state = CheckState.FAIL if is_chosen else CheckState.WARN
    if find(MODELS[LOCAL_MODEL], home(environ)) is None:
        advice = f"holdfast models pull {LOCAL_MODEL}, or set model.name to another model"
        words = f"the one on this machine, {LOCAL_MODEL}, whose file is not here"
        return Check(name, state, words, advice)
    if find_spec("xllamacpp") is None:
        words = f"the one on this machine, {LOCAL_MODEL}, and nothing that runs it is installed"
        return Check(name, state, words, "pip install 'holdfast[local]'")
    return Check(name, CheckState.OK, "the one on this machine, which needs no key")


def _credential(name: str, provider: str, address: str | None, environ: Mapping[str, str]) -> Check:
    # A provider's own key is never sent to another server.
    variable = SERVER_KEY if address else _CREDENTIALS[provider]
    if environ.get(variable, "").strip():
        return Check(name, CheckState.OK, f"{variable} is set")
    if address:
        return Check(
            name, CheckState.OK, f"none is sent to {place_of(address)}; {variable} would be"
        )
    return Check(name, CheckState.FAIL, f"{variable} is not set", f"export {variable}")


def _summary_window(settings: Settings, named: str) -> Check:
    chosen, policy = settings.auxiliary.compression, policy_of(_settled(settings))
    known = known_window(chosen.separate, chosen.provider) if chosen.separate else None
    window = chosen.context_length or known
    if window is None:
        words = f"its requests are sized for {policy.context_length:,} tokens"
        return Check("summary model", CheckState.OK, f"{named}; {words} until it states its window")
    if window < policy.threshold_tokens:
        return Check(
            "summary model",
            CheckState.WARN,
            f"{named}; its window of {window:,} tokens is under the threshold of "
            f"{policy.threshold_tokens:,}, so long sessions are summarized in several requests",
            "choose a model with a larger window, or lower compression.threshold",
        )
    return Check("summary model", CheckState.OK, f"{named}; its window is {window:,} tokens")


def reach_checks(settings: Settings) -> Iterator[Check]:
    """Connect to the addresses that the settings name, or to the proxy before them.

    Nothing is said there.
    """
    model, summary = settings.model, settings.auxiliary.compression
    addresses: dict[str, str] = {}
    if model.name and not is_local(model.name, model.provider, model.base_url):
        addresses["model address"] = model.base_url or _provider_address(model.name, model.provider)
    if summary.separate and not is_local(summary.separate, summary.provider, summary.base_url):
        addresses["summary address"] = summary.base_url or _provider_address(
            summary.separate, summary.provider
        )
    if settings.memory.provider and settings.memory.base_url:
        addresses["memory address"] = settings.memory.base_url
    for name, address in addresses.items():
        # The proxy that the environment names for an address.
        from urllib.request import getproxies, proxy_bypass

        parts = urlsplit(address)
        proxy = getproxies().get(parts.scheme, "")
        yield reach_check(name, address, "" if proxy_bypass(parts.hostname or "") else proxy)


def reach_check(name: str, address: str, proxy: str = "") -> Check:
    """Connect to an address, or to the proxy before it, and say nothing there."""
    place = place_of(proxy or address)
    through = f" (the proxy before {place_of(address)})" if proxy else ""
    try:
        host, _, port = place.rpartition(":")
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        advice = "check the address and the network; --offline leaves this check out"
        return Check(name, CheckState.FAIL, f"{place}{through} does not answer: {reason}", advice)
    return Check(name, CheckState.OK, f"{place}{through} answers")


def place_of(address: str) -> str:
    """Return host and port of an address, without a credential that may stand in it."""
    parts = urlsplit(address)
    return f"{parts.hostname or ''}:{parts.port or _PORTS.get(parts.scheme, 443)}"


def _provider_address(name: str, provider: str) -> str:
    return _HOMES[provider_of(name, provider)[0]]


def store_checks(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Look at the store that the settings name."""
    try:
        file = file_behind(settings.store.url, settings.store.profile, environ)
        if file is None:
            # What is no file can be asked, and nothing else.
            with closing(store_of(settings, environ)) as store:
                health, name, kept = store.check(), store.name, store.capabilities
            words = [counted(health.sessions, "session"), counted(health.messages, "message")]
            words += [] if Capability.DURABLE in kept else ["kept until the process ends"]
            state = CheckState.FAIL if health.problems else CheckState.OK
            found = "; ".join(health.problems) if health.problems else ", ".join(words)
            yield Check("store", state, f"{name}: {found}")
            return
    except (ConfigError, StoreError) as error:
        yield Check("store", CheckState.FAIL, str(error), "change store.url or store.profile")
        return
    try:
        exists = file.exists()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        shown = crop(str(file), _LONGEST_SHOWN)
        yield Check("store", CheckState.FAIL, f"{shown} cannot be looked at: {reason}")
        return
    if exists:
        yield from _file_checks(file)
        return
    yield Check("store", CheckState.OK, f"{file} (not made yet)")
    folder = next((each for each in file.parents if each.is_dir()), None)
    if folder is not None:
        yield _space(folder, 0)


def sized(count: int) -> str:
    """Return a number of bytes in the unit that people would use."""
    size, unit = float(count), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{count:,} bytes" if not unit else f"{size:,.1f} {_UNITS[unit]}"


def _file_checks(file: Path) -> Iterator[Check]:
    # Imported only here: SQLite is loaded when there is something to look at.
    from holdfast.wiring.upkeep import quick_check

    try:
        seen = quick_check(file)
    except StoreError as error:
        yield Check("store", CheckState.FAIL, str(error))
        return
    words = [counted(seen.sessions, "session"), counted(seen.messages, "message")]
    words += [sized(seen.bytes), f"version {seen.version}"]
    if not os.access(file, os.W_OK):
        words.append("read-only")
    if seen.version < seen.newest_version:
        words.append(f"will be brought to version {seen.newest_version} when it is used")
    if not seen.bytes:
        words = f"{file} is empty: nothing is stored in it, or it was cut"
        yield Check("store", CheckState.WARN, words, "put a backup in its place, if there is one")
        return
    yield Check("store", CheckState.OK, f"{file}: {', '.join(words)}")
    if seen.problems:
        yield Check("store pages", CheckState.FAIL, "; ".join(seen.problems), _REPAIR)
    else:
        yield Check("store pages", CheckState.OK, "a quick check found no damage")
    yield _space(file.parent, seen.bytes)
    yield from _leases(seen)
    if seen.trashed:
        words = f"{counted(seen.trashed, 'session')} in the trash"
        advice = "holdfast sessions prune --empty-trash deletes them for good"
        yield Check("trash", CheckState.OK, words, advice)


def _space(folder: Path, stored: int) -> Check:
    free = shutil.disk_usage(folder).free
    words = f"{sized(free)} free"
    if free < max(_SCARCE, stored):
        advice = "make room: a backup or a repair needs as much space as the store takes"
        return Check("store space", CheckState.WARN, words, advice)
    return Check("store space", CheckState.OK, words)


def _leases(seen: QuickCheck) -> Iterator[Check]:
    now = now_ms()
    for lease in seen.leases:
        if lease.expires > now and (reason := why_void(lease, now)):
            words = f"the lease of {lease.holder} on session {lease.session} is void: {reason}"
            yield Check("lease", CheckState.WARN, words, _TAKEN_OVER)
        elif lease.expires > now:
            words = f"session {lease.session} is being compacted by {lease.holder}"
            yield Check("lease", CheckState.OK, words)
        else:
            words = (
                f"{lease.holder} left session {lease.session} in the middle of a compaction, "
                f"and its lease ran out {clock_time(lease.expires)}"
            )
            yield Check("lease", CheckState.WARN, words, _TAKEN_OVER)


def part_checks(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Look at the engine, the memory, the tokenizer and the files of local models."""
    yield _engine(settings)
    yield from _memory(settings, environ)
    family = family_of(settings.model.name or "")
    words = f"exact counts are at hand; estimates for {family}"
    if find_spec("splintr") is None:
        words = f"estimates for the {family} family"
    yield Check("tokenizer", CheckState.OK, words)
    for name, model in MODELS.items():
        found = find(model, home(environ))
        if found is None:
            advice = f"holdfast models pull {name}"
            yield Check(f"model file {name}", CheckState.OK, "not on this machine", advice)
        else:
            words = f"{sized(model.size)} at {found.folder}"
            yield Check(f"model file {name}", CheckState.OK, words)


def _engine(settings: Settings) -> Check:
    from holdfast.wiring.engines import BUILT_IN, engine_names, engine_trouble

    name = settings.context.engine
    try:
        names = engine_names()
    except OSError:
        # The check of the home directory says what is wrong with it.
        names = BUILT_IN
    plugins = [each for each in names if each not in BUILT_IN]
    others = f"; plug-ins: {', '.join(plugins)}" if plugins else ""
    if name in names:
        trouble = engine_trouble(name)
        if not trouble:
            return Check("engine", CheckState.OK, f"{name}{others}")
        words = f"{name} cannot be used: {trouble}; compressor is used instead{others}"
        return Check("engine", CheckState.WARN, words, "mend the plug-in, or set context.engine")
    advice = f"set context.engine to one of {', '.join(names)}"
    words = f"there is no engine {name}; compressor is used instead{others}"
    return Check("engine", CheckState.WARN, words, advice)


def _memory(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    from holdfast.memory import NOTEBOOKS, usage
    from holdfast.wiring.memories import memory_files_of, memory_of

    try:
        files = memory_files_of(settings, environ)
        sizes = [f"{each.file} {usage(each, files.entries(each))}" for each in NOTEBOOKS.values()]
    except HoldfastError as error:
        yield Check("memory", CheckState.FAIL, str(error))
    else:
        yield Check("memory", CheckState.OK, ", ".join(sizes))
    name = settings.memory.provider
    if name is None:
        return
    try:
        memory_of(settings, environ)
    except HoldfastError as error:
        yield Check("memory provider", CheckState.FAIL, str(error))
    else:
        yield Check("memory provider", CheckState.OK, f"{name} has what it needs")
