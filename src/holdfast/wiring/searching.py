"""Search with the usual parts in place: the configured store, and other profiles by name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack

from holdfast.conversation.searching import SessionSearch
from holdfast.errors import ConfigError
from holdfast.recall.arguments import SearchArguments
from holdfast.system import SystemClock
from holdfast.wiring.stores import open_store, profile_names, store_file, store_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.ports import Store
    from holdfast.wiring.stores import Place


class Searching(SearchArguments, total=False):
    """What `session_search` takes as a function of the library."""

    store: Place
    """A path, `sqlite:///PATH` or an open store; by default the one that is configured."""
    budget: int | None
    """Tokens that the result may take; by default 2,500 for passages, 4,000 for others."""
    current: str
    """The session that asks, whose window is not repeated; by default the current one."""


def session_search(**arguments: Unpack[Searching]) -> dict[str, object]:
    """Search past conversations; the arguments decide the shape of the result.

    `query` finds conversations, with `session_id` the passages of one that answer it best,
    `around_message_id` shows the messages around one, `session_id` alone reads a conversation, and
    nothing lists the recent ones. What is wrong with the arguments is said under `error`.

    Raises:
        StoreError: when the store itself cannot be opened.
        ConfigError: when the settings cannot be used.
    """
    place = arguments.pop("store", None)
    budget = arguments.pop("budget", None)
    current = arguments.pop("current", None)
    if place is None:
        from holdfast.config import load

        store = store_of(load(os.environ).settings, os.environ)
    else:
        store = open_store(place, os.environ)
    try:
        return search_in(store, current=current, budget=budget).session_search(**arguments)
    finally:
        if store is not place:
            store.close()


def search_in(
    store: Store, *, current: str | None = None, budget: int | None = None
) -> SessionSearch:
    """Return a search over a store, with the profiles of this machine beside it."""
    return SessionSearch(
        store,
        SystemClock(),
        session_id=current,
        budget=budget,
        open_profile=lambda name: open_profile(name, os.environ),
        profiles=tuple(
            name
            for name in profile_names(os.environ)
            if str(store_file("sqlite", name, os.environ)) != store.name
        ),
    )


def open_profile(name: str, environ: Mapping[str, str]) -> Store:
    """Open another profile's store for reading; its file is not changed.

    Raises:
        ConfigError: when there is no such profile; it says which there are.
    """
    known = profile_names(environ)
    if name not in known:
        there = f"there are: {', '.join(known)}" if known else "there are none yet"
        raise ConfigError(f"there is no profile {name[:60]!r} with sessions; {there}")
    # Imported only here: commands that need no store should not pay for it.
    from holdfast.stores.sqlite import SqliteStore

    return SqliteStore(store_file("sqlite", name, environ), read_only=True)
