"""Arguments of a call, read as what a tool expects, with a sentence where they are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.agent.toolbox import ToolFailed

if TYPE_CHECKING:
    from holdfast.agent.toolbox import Arguments

__all__ = ["number", "words"]


def words(arguments: Arguments, name: str, default: str | None = None) -> str:
    """Return a text among the arguments.

    Raises:
        ToolFailed: when it is missing and has no default, or is no text.
    """
    value = arguments.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or not (value.strip() or default is not None):
        raise ToolFailed(f"{name} is missing; it is a text")
    return value


def number(arguments: Arguments, name: str, default: int) -> int:
    """Return a whole number of at least 1 among the arguments.

    Raises:
        ToolFailed: when something else is there.
    """
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().isdigit():
        # Small models write numbers as texts.
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ToolFailed(f"{name} is {value!r}; it is a whole number of at least 1")
    return value
