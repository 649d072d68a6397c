"""Finds a store by its address: `sqlite:///PATH`, a path, `memory:`, or what a package brings.

The scheme of an address chooses who opens it. Schemes beyond the built-in ones are entry points of
the group `holdfast.stores`: the name of the entry point is the scheme, and what it loads takes the
whole address and returns a store. Nothing is imported before its scheme is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.errors import ConfigError, StoreError
from holdfast.ports import REQUIRED, Store

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


GROUP = "holdfast.stores"
"""The group of entry points in which packages list their stores."""

StoreOpener: TypeAlias = "Callable[[str], Store]"
"""Opens the store at an address, which is created there if need be."""

_SCHEME = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_FILE_PREFIX = "sqlite:///"
_MEMORY = "memory:"


def open_url(url: str) -> Store:
    """Open the store at an address.

    Raises:
        ConfigError: when nothing that is installed opens such an address.
        StoreError: when the store cannot be used.
    """
    # So SQLite calls what it keeps in no file.
    url = _MEMORY if url == ":memory:" else url
    scheme = _scheme_of(url)
    opener = _BUILT_IN.get(scheme) or _offered(scheme)
    store = opener(url)
    missing = sorted(REQUIRED - store.capabilities)
    if missing:
        store.close()
        raise StoreError(f"the store for {scheme}:// lacks {', '.join(missing)}; no store may")
    return store


def file_of(url: str) -> Path | None:
    """Return the file behind an address; None when the store is not kept in a file."""
    if _scheme_of(url) != "sqlite":
        return None
    return Path(url.removeprefix(_FILE_PREFIX)).expanduser().absolute()


def is_durable(url: str) -> bool:
    """Say whether another process that opens the address finds the same store."""
    return _scheme_of(url) != "memory"


def known_schemes() -> tuple[str, ...]:
    """Return the schemes of all stores that can be opened."""
    return tuple(sorted({*_BUILT_IN, *(each.name for each in _entry_points())}))


def _scheme_of(url: str) -> str:
    if url.startswith(_MEMORY):
        return "memory"
    found = _SCHEME.match(url)
    return found["scheme"].lower() if found else "sqlite"


def _offered(scheme: str) -> StoreOpener:
    for each in _entry_points():
        if each.name != scheme:
            continue
        try:
            opener = cast("StoreOpener", each.load())
        except Exception as error:
            raise ConfigError(
                f"the store for {scheme}:// addresses ({each.value}) cannot be imported: {error}"
            ) from error
        if not callable(opener):
            raise ConfigError(f"the store for {scheme}:// addresses ({each.value}) is no function")
        return opener
    others = "".join(f", {each}://" for each in known_schemes() if each not in _BUILT_IN)
    raise ConfigError(
        f"nothing that is installed opens {scheme}:// addresses; a package brings such a store as "
        f"an entry point of the group {GROUP}. "
        f"Allowed: {_FILE_PREFIX}PATH, the path of a file, {_MEMORY}{others}"
    )


def _entry_points() -> Iterable[EntryPoint]:
    # Imported only here: it takes longer than everything else in this module.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def _open_sqlite(url: str) -> Store:
    from holdfast.stores.sqlite import SqliteStore

    file = file_of(url)
    if file is None or (_SCHEME.match(url) and not url.startswith(_FILE_PREFIX)):
        raise ConfigError(f"{url} names no file; allowed: {_FILE_PREFIX}PATH or a path")
    return SqliteStore(file)


def _open_memory(url: str) -> Store:
    from holdfast.stores.memory import open_memory

    return open_memory(url)


_BUILT_IN: Mapping[str, StoreOpener] = {"sqlite": _open_sqlite, "memory": _open_memory}
