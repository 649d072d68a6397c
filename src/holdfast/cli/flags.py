"""Flags that several commands have: settings checked by the table of keys, moments, consent."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.cli.screen import tell
from holdfast.config import KEYS, Flag, Setting, load, read_text
from holdfast.errors import ConfigError
from holdfast.views.words import crop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.config import Configuration, Key

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])
_FLAGS: dict[str, tuple[str, str, str]] = {
    "model_name": ("--model", "model.name", "The conversation's model; sizes the estimate."),
    "context_length": ("--context-length", "model.context_length", "The model's window in tokens."),
    "threshold": (
        "--threshold",
        "compression.threshold",
        "The share of the window at which compaction is due.",
    ),
    "target_ratio": (
        "--target-ratio",
        "compression.target_ratio",
        "The share of the threshold that stays as the verbatim tail.",
    ),
    "protect_first": (
        "--protect-first",
        "compression.protect_first_n",
        "Messages kept after the system prompt.",
    ),
    "protect_last": (
        "--protect-last",
        "compression.protect_last_n",
        "Messages at the end that stay word for word, where they fit.",
    ),
}
_SERVED: dict[str, tuple[str, str, str]] = {
    "provider": ("--provider", "model.provider", "Who serves it: auto, openai or anthropic."),
    "base_url": ("--base-url", "model.base_url", "Where a compatible server listens."),
}
SETTING_NAMES = frozenset({*_FLAGS, *_SERVED, "profile", "store"})
"""The names under which click hands over flags that are settings."""
_WRITER = "--summarizer"
_SUMMARIZER = "auxiliary.compression.model"
_SERVED_BY = "auxiliary.compression.provider"
_CHOICES = {"deterministic": "none", "none": "none", "main": "main", "auto": "auto"}
"""Who may write the record beside a model that is named, as the settings call them."""
_LONGEST_SHOWN = 40
_METAVARS = {int: "N", float: "F", str: "NAME"}
yes_flag = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
session_argument = click.argument("name", metavar="ID")
source_flag = click.option(
    "--source",
    "--agent",
    "sources",
    multiple=True,
    metavar="S",
    help="Only sessions from here, such as cli or codex.",
)


def place_flags(function: Wrapped) -> Wrapped:
    """Add the flags that say where what is wanted took place."""
    folder = click.option(
        "--project", default="", metavar="FOLDER", help="Only what took place in this folder."
    )
    branch = click.option(
        "--branch", default="", metavar="B", help="Only what took place on this branch."
    )
    file = click.option(
        "--file", default="", metavar="FILE", help="Only where this file was named."
    )
    return folder(branch(file(function)))


class _SettingType(click.ParamType[Setting]):
    """A flag whose values are those of a key."""

    def __init__(self, key: Key, flag: str) -> None:
        self.key = key
        self.flag = flag
        self.name = _METAVARS[key.kind]

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Setting:
        """Return the setting that the text makes."""
        if isinstance(value, Setting):
            return value
        origin = Flag(self.flag)
        try:
            return Setting(self.key.path, read_text(self.key, str(value), origin), origin)
        except ConfigError:
            shown = crop(str(value), _LONGEST_SHOWN)
            allowed = self.key.allowed.removesuffix(", or null")
            self.fail(f"{shown} is not {allowed}", param, ctx)


def setting_flags(function: Wrapped) -> Wrapped:
    """Give a command the flags that override settings; it receives them as settings."""
    return _with_flags(function, _FLAGS)


def serving_flags(function: Wrapped) -> Wrapped:
    """Give a command the flags that say where the conversation's model is served."""
    return _with_flags(function, _SERVED)


def _with_flags(function: Wrapped, flags: Mapping[str, tuple[str, str, str]]) -> Wrapped:
    for name, (flag, path, words) in reversed(list(flags.items())):
        kind = _SettingType(KEYS[path], flag)
        function = click.option(flag, name, type=kind, metavar=kind.name, help=words)(function)
    return function


def conversation_flag(function: Wrapped) -> Wrapped:
    """Give a command the flag that picks one of the conversations of a file."""
    return click.option(
        "--conversation",
        type=click.IntRange(min=1),
        metavar="N",
        help="Which one, when a file holds several; the first is 1.",
    )(function)


def profile_flag(function: Wrapped) -> Wrapped:
    """Give a command the flag that picks whose sessions are meant."""
    kind = _SettingType(KEYS["store.profile"], "--profile")
    words = "Whose sessions; see the setting store.profile."
    return click.option("--profile", type=kind, metavar="NAME", help=words)(function)


def store_flags(function: Wrapped) -> Wrapped:
    """Give a command the flags that say which store is meant, and whose sessions in it."""
    kind = _SettingType(KEYS["store.url"], "--store")
    words = "Which store: a file or an address; see the setting store.url."
    return click.option("--store", type=kind, metavar="PLACE", help=words)(profile_flag(function))


def summarizer_flag(function: Wrapped) -> Wrapped:
    """Give a command the flag that says who writes the record."""
    return click.option(
        _WRITER,
        metavar="deterministic|none|main|MODEL",
        help="Who writes the record: a model, the conversation's own (main), or no model "
        "(deterministic and none are the same).",
    )(function)


def configuration(options: Mapping[str, object], summarizer: str | None = None) -> Configuration:
    """Return the configuration with the flags of a command on top.

    Args:
        options: What click collected; everything that is a setting counts.
        summarizer: The value of `--summarizer`, if the command has it.
    """
    flags = [value for value in options.values() if isinstance(value, Setting)]
    if summarizer is not None:
        if not summarizer.strip():
            raise click.BadParameter("name a model, deterministic or none", param_hint=_WRITER)
        origin = Flag(_WRITER)
        if summarizer in _CHOICES:
            flags.append(Setting(_SERVED_BY, _CHOICES[summarizer], origin))
        else:
            flags.append(Setting(_SUMMARIZER, summarizer, origin))
            if load(os.environ).settings.auxiliary.compression.provider in ("main", "none"):
                flags.append(Setting(_SERVED_BY, "auto", origin))
    return load(os.environ, flags)


def agreed(*questions: str, yes: bool) -> bool:
    """Ask each question, and say whether all were answered with yes.

    Raises:
        click.UsageError: when there is no terminal to ask on and `--yes` was not given.
    """
    if yes:
        return True
    # The interpreter has None for a standard input that was closed at its start.
    if not (sys.stdin and sys.stdin.isatty()):
        raise click.UsageError(f"{questions[0]} Nobody can be asked here; say --yes to go ahead")
    if all(click.confirm(each, err=True) for each in questions):
        return True
    tell("nothing was done")
    return False


def parse_moment(text: str, now_ms: int, *, end: bool = False) -> int:
    """Return the moment that a text means, in milliseconds since the epoch.

    Dates without a zone are local. Counts such as `7d` and `12h` go back from now.

    Args:
        text: What was written, such as `2026-11-15`, `7d` or `yesterday`.
        end: Whether a day, month or year means its last moment, as `--until` wants it.

    Raises:
        click.BadParameter: when the text means no moment; it says what can be read.
    """
    # Imported only here: most commands read no time.
    from holdfast.recall.values import MOMENTS, moment

    try:
        now = datetime.fromtimestamp(now_ms / 1000).astimezone()
        found = moment(text, now, end=end)
        if found is not None:
            return round(found.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        # A year that the machine's clock does not know.
        pass
    raise click.BadParameter(f"{text[:_LONGEST_SHOWN]!r} is no time; write {MOMENTS}")


def read_moment(
    *, end: bool = False
) -> Callable[[click.Context, click.Parameter, str | None], int | None]:
    """Return a callback that makes milliseconds of an option's text."""

    def read(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
        if text is None:
            return None
        try:
            return parse_moment(text, now_ms(), end=end)
        except click.BadParameter as error:
            raise click.BadParameter(error.message, context, option) from None

    return read


def now_ms() -> int:
    """Return the time that it is now."""
    from holdfast.system import SystemClock

    return SystemClock().moment()
