"""What every command on stored sessions works with: the settings, the open store, the answer."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from holdfast.cli.flags import SETTING_NAMES, configuration, json_flag, store_flags
from holdfast.cli.screen import Unusable, show_answer, tell
from holdfast.session import latest_leaf
from holdfast.views.sessions import find_session
from holdfast.wiring.stores import file_behind, profile_names, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from typing import Concatenate

    from holdfast.cli.screen import Line, OutputScreen
    from holdfast.config import Settings
    from holdfast.ports import Store
    from holdfast.session import Session

_P = ParamSpec("_P")
_R = TypeVar("_R")


class NoSessions(Unusable):
    """Nothing was ever stored where the settings look; the message says where that is."""


@dataclass(frozen=True, slots=True)
class OpenStore:
    """An open store, and how the command is to answer."""

    settings: Settings
    store: Store
    as_json: bool
    flags: Mapping[str, object] = field(default_factory=dict[str, object])
    """The flags of the command that are settings."""

    def settings_of(self, session: Session) -> Settings:
        """Return the settings with the session's own model and window, unless flags name others."""
        # Imported only here: sessions are listed without an engine.
        from holdfast.wiring.resuming import settings_for

        return settings_for(self.settings, session.model, session.context_length, self.flags)

    def answer(self, value: object, drawn: Callable[[OutputScreen], Sequence[Line]]) -> None:
        """Print the value as JSON, or what is drawn of it for a person."""
        show_answer(value, drawn, as_json=self.as_json)


def with_store(function: Callable[Concatenate[OpenStore, _P], _R]) -> Callable[..., _R]:
    """Give a command its flags for store and output; it receives the open store."""

    @wraps(function)
    def run(*args: _P.args, **options: _P.kwargs) -> _R:
        as_json, summarizer = options.pop("as_json"), options.pop("summarizer", None)
        flags = {name: options.pop(name) for name in list(options) if name in SETTING_NAMES}
        settings = configuration(flags, cast("str | None", summarizer)).settings
        with opened_store(settings, as_json=bool(as_json), flags=flags) as opened:
            return function(opened, *args, **options)

    return store_flags(json_flag(run))


@contextmanager
def opened_store(
    settings: Settings, *, as_json: bool, flags: Mapping[str, object] | None = None
) -> Generator[OpenStore]:
    """Open the store that the settings name; looking at sessions never creates one.

    Raises:
        NoSessions: when there is no file yet.
    """
    file = file_behind(settings.store.url, settings.store.profile, os.environ)
    if file is not None and not file.exists():
        others = [each for each in profile_names(os.environ) if each != settings.store.profile]
        there = f"; profiles with sessions: {', '.join(others)}" if others else ""
        raise NoSessions(f"there are no sessions yet: {file} does not exist{there}")
    store = store_of(settings, os.environ)
    try:
        yield OpenStore(settings, store, as_json, flags or {})
    finally:
        store.close()


def find_leaf(store: Store, name: str) -> Session:
    """Return the session in which the one that is meant goes on, and say so if it is another."""
    session = find_session(store, name)
    leaf = latest_leaf(store.lineage(session.id), session.id)
    if leaf.id != session.id:
        tell(f"session {session.id} goes on in {leaf.id}")
    return leaf
