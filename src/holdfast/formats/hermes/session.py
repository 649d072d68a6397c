"""What Hermes writes of a session, in its database and in what it exports from there.

An exported session is its row with its messages under it, so both are read by the same words.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.json_access import JsonObject, count, mapping, parsed, string, usage_in
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.formats.events import About
    from holdfast.session import Usage
    from holdfast.transcript import Message

__all__ = ["exported", "forks_marked", "is_failure", "settings_of", "usage_of"]

_MARKS = (
    ("_branched_from", Fork.BRANCH),
    ("_delegate_from", Fork.DELEGATION),
    ("_reset_from", Fork.RESET),
)
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_UNDONE = ("none", "unknown")
"""What is written beside the result of a call that was not made, or not to its end."""
_FAILED = ("Error", '{"error":', '{"success": false', "[Tool execution cancelled")
"""How the words of a failure begin, also where the rest was cut off."""
_SHELL = "terminal"
_DECODER = json.JSONDecoder()
_EXPORTED = frozenset({"id", "source", "started_at", "parent_session_id", "end_reason"})


def settings_of(row: JsonObject) -> JsonObject:
    """Return the settings of a session, which are stored as text."""
    found = row.get("model_config")
    return mapping(parsed(found) if isinstance(found, str | bytes) else found)


def usage_of(row: JsonObject) -> Usage | None:
    """Return what a session cost."""
    whole = usage_in(row, _COUNTS, row.get("actual_cost_usd") or row.get("estimated_cost_usd"))
    return None if whole is None else replace(whole, calls=count(row.get("api_call_count")))


def is_failure(name: str, words: str, fields: JsonObject) -> bool:
    """Say whether a call failed, which Hermes tells its screen and does not store.

    Args:
        name: The tool.
        words: What it answered.
        fields: What is written beside the answer.
    """
    if fields.get("finish_reason") == "error" or fields.get("effect_disposition") in _UNDONE:
        return True
    if not words.startswith("{"):
        return words.startswith(_FAILED)
    answer = _first_object(words)
    if name == _SHELL:
        return answer.get("exit_code") not in (None, 0)
    if not answer:
        return words.startswith(_FAILED)
    is_done = answer.get("success") is True
    is_wrong = bool(answer.get("error")) or answer.get("status") == "error"
    return answer.get("success") is False or (is_wrong and not is_done)


def _first_object(words: str) -> JsonObject:
    """Return the object that words begin with; Hermes may have added a warning after it."""
    try:
        found, _ = _DECODER.raw_decode(words)
    except (ValueError, RecursionError):
        return mapping(None)
    return mapping(found)


def forks_marked(row: JsonObject) -> tuple[list[Fork], list[Fork]]:
    """Return how a session came from its parent as its marks say, and as inherited ones do.

    A session that goes on after a compaction inherits the marks of its parent, which name another
    session then.
    """
    settings, parent = settings_of(row), row.get("parent_session_id")
    marked = [(settings[name], fork) for name, fork in _MARKS if settings.get(name) is not None]
    own = [fork for origin, fork in marked if origin == parent]
    return own, [fork for origin, fork in marked if origin != parent]


def exported(about: About, row: JsonObject, messages: Iterable[Message]) -> About:
    """Return what is known of a session that Hermes exported; any other one as it is.

    The row of the parent is elsewhere: a summary at the beginning shows that it was compacted.
    """
    if not row.keys() >= _EXPORTED:
        return about
    known = replace(about, id=string(row.get("id")), usage=usage_of(row))
    parent = string(row.get("parent_session_id"))
    if not parent:
        return known
    own, inherited = forks_marked(row)
    if not own and any(message.summary is not None for message in messages):
        own = [Fork.COMPRESSION]
    fork = next(iter((*own, *inherited)), Fork.DELEGATION)
    return replace(known, parent=parent, fork=fork)
