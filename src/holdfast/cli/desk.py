"""What every command on stored sessions works with: the settings, the open store, the answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

import click

from holdfast.cli.flags import SETTING_NAMES, configuration, profile_flag
from holdfast.cli.screen import show_answer
from holdfast.cli.streams import Unusable
from holdfast.wiring.stores import file_behind, profile_names, store_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from holdfast.cli.lines import Line
    from holdfast.cli.screen import Screen
    from holdfast.config import Settings
    from holdfast.ports import Store

__all__ = ["Desk", "NoSessions", "at_desk", "json_flag", "opened_desk", "session_argument"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
session_argument = click.argument("name", metavar="ID")


class NoSessions(Unusable):
    """Nothing was ever stored where the settings look; the message says where that is."""


@dataclass(frozen=True, slots=True)
class Desk:
    """An open store, and how the command is to answer."""

    settings: Settings
    store: Store
    as_json: bool

    def answer(self, value: object, drawn: Callable[[Screen], Sequence[Line]]) -> None:
        """Print the value as JSON, or what is drawn of it for a person."""
        show_answer(value, drawn, as_json=self.as_json)


def at_desk(function: Callable[Concatenate[Desk, _P], _R]) -> Callable[..., _R]:
    """Give a command its flags for store and output; it receives a desk with the store open."""

    @wraps(function)
    def run(*args: _P.args, **options: _P.kwargs) -> _R:
        as_json, summarizer = options.pop("as_json"), options.pop("summarizer", None)
        flags = {name: options.pop(name) for name in list(options) if name in SETTING_NAMES}
        settings = configuration(flags, cast("str | None", summarizer)).settings
        with opened_desk(settings, as_json=bool(as_json)) as desk:
            return function(desk, *args, **options)

    return profile_flag(json_flag(run))


@contextmanager
def opened_desk(settings: Settings, *, as_json: bool) -> Generator[Desk]:
    """Open the store that the settings name; looking at sessions never creates one.

    Raises:
        NoSessions: when there is no file yet.
    """
    file = file_behind(settings.store.url, settings.store.profile, os.environ)
    if file is not None and not file.exists():
        raise NoSessions(_absence(settings, str(file)))
    store = store_of(settings, os.environ)
    try:
        yield Desk(settings, store, as_json)
    finally:
        store.close()


def _absence(settings: Settings, file: str) -> str:
    others = [each for each in profile_names(os.environ) if each != settings.store.profile]
    there = f"; profiles with sessions: {', '.join(others)}" if others else ""
    return f"there are no sessions yet: {file} does not exist{there}"
