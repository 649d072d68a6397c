"""Names that the methods of a conversation had, and names that people guess."""

from __future__ import annotations

import difflib
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FORMER = {
    "user": "add_user",
    "assistant": "add_assistant",
    "tool": "add_tool_result",
    "extend": "add",
    "record": "add_response",
    "system": "set_system",
    "window": "messages",
}
"""What each method of version 0.1 is called now."""
_GUESSES = {
    "append": "add",
    "add_message": "add",
    "add_messages": "add",
    "add_assistant_message": "add_assistant",
    "add_user_message": "add_user",
    "add_system": "set_system",
    "add_tool": "add_tool_result",
    "fork": "branch",
    "history": "log",
    "to_openai": "messages()",
    "to_anthropic": 'body("anthropic"), which has `system` and `messages`',
    "to_gemini": 'body("gemini"), which has `system` and `messages`',
    "tokens": "status().tokens",
    "undo_compact": "undo_compaction",
}


def former_name(conversation: object, name: str) -> object:
    """Return a method by the name that it had in version 0.1, with a warning.

    Raises:
        AttributeError: when there is none; the message names what may be meant.
    """
    kind = type(conversation).__name__
    if name in FORMER:
        new = FORMER[name]
        warnings.warn(f"{kind}.{name} is now {new}", DeprecationWarning, stacklevel=3)
        method = getattr(conversation, new)
        return _with_dialect(method) if name == "extend" else method
    meant = _GUESSES.get(name)
    if meant is None:
        public = [each for each in dir(type(conversation)) if not each.startswith("_")]
        close = difflib.get_close_matches(name, [*public, *_GUESSES], 1)
        meant = _GUESSES.get(close[0], close[0]) if close else None
    hint = f"; use {meant}" if meant else ""
    raise AttributeError(f"{kind} has no attribute {name!r}{hint}")


def _with_dialect(add: Callable[..., object]) -> Callable[..., object]:
    """Return `add` under the keyword by which `extend` knew the dialect."""

    def extend(messages: object, dialect: str = "", **named: str) -> object:
        return add(messages, **{"format": dialect, **named})

    return extend
