"""Says which part of a graph's state is its conversation, and what its model sees of it.

A state is a set of named channels that the author of the graph chose. `messages` is the custom.
Where there is none, the conversation is the channel that is a list of messages, or holds one under
that name: the whole state of some graphs, what a function keeps for its next call, or a list of
any other name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About
from holdfast.formats.figures import count
from holdfast.formats.langgraph.messages import REMOVAL, entry_of, message_of
from holdfast.formats.langgraph.values import Unreadable, built, decode, members, unpacked
from holdfast.formats.loose import is_array, mapping, sequence, string

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.formats.langgraph.messages import Entry

__all__ = ["Reduced", "channel_of", "messages_in", "reduced_in", "surroundings"]

_CUSTOM = "messages"
_PASSING = ("__start__", "__end__", "__input__", "__pregel", "__interrupt__", "branch:")
"""How channels are called that hold what a step is about to read, and nothing that lasts."""
_VIEWS = ("llm_input_messages", "summarized_messages")
"""Channels that repeat what the model was sent."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """What the model sees in the place of older messages."""

    summary: str = ""
    hidden: frozenset[int] = frozenset()
    """The places of the messages that the summary stands for, though the graph still holds them."""


def channel_of(values: Mapping[str, object], versions: Mapping[str, object]) -> str:
    """Return the channel that is the conversation; empty when none is one yet."""
    if _CUSTOM in values or _CUSTOM in versions:
        return _CUSTOM
    sizes = {
        name: size
        for name, value in values.items()
        if not name.startswith(_PASSING) and name not in _VIEWS and (size := _size(value))
    }
    return min(sizes, key=lambda name: (-sizes[name], name), default="")


def messages_in(value: object) -> object:
    """Return the messages of a channel: its value, or what that holds under their name.

    Raises:
        Unreadable: when it is damaged.
    """
    found = unpacked(value)
    inner = mapping(found).get(_CUSTOM)
    return inner if is_array(inner) else found


def reduced_in(values: Mapping[str, object], entries: Sequence[Entry]) -> Reduced:
    """Return the summary that the model sees.

    Raises:
        Unreadable: when it is damaged.
    """
    if event := mapping(values.get("_summarization_event")):
        return _deep_agent(event)
    kept = built(mapping(values.get("context")).get("running_summary"))
    if kept is not None and (text := string(kept.fields.get("summary"))):
        return _running(text, kept.fields, entries)
    return Reduced(string(values.get("summary")))


def surroundings(blob: object) -> About:
    """Return where a step was taken, as far as the program around the graph noted it.

    The title is what the agent is called that took it.
    """
    try:
        noted = mapping(decode("", blob))
    except Unreadable:
        return About()
    name = string(noted.get("agent_name"))
    return About(
        title=string(noted.get("lc_agent_name")),
        cwd=string(noted.get("cwd")),
        git_branch=string(noted.get("git_branch")),
        version=string(noted.get("ls_integration_version")),
        more={"agent_name": name} if name else {},
    )


def _size(value: object) -> int:
    """Return of how many messages a value is made; none when anything in it is no message."""
    try:
        found = messages_in(value)
        several = sequence(found) if is_array(found) else (found,)
        return len(several) if all(map(_is_message, several)) else 0
    except Unreadable:
        return 0


def _is_message(value: object) -> bool:
    entry = entry_of(value)
    return entry is not None and entry.kind != REMOVAL and "content" in entry.fields


def _deep_agent(event: Mapping[str, object]) -> Reduced:
    """Return the summary of a deep agent, which stands for the messages up to some place."""
    entry = entry_of(event.get("summary_message"))
    if entry is None or entry.kind == REMOVAL:
        return Reduced()
    message = message_of(entry)
    text = message.summary.text if message.summary is not None else message.text
    return Reduced(text, frozenset(range(count(event.get("cutoff_index")))))


def _running(text: str, fields: Mapping[str, object], entries: Sequence[Entry]) -> Reduced:
    """Return the summary of LangMem, which names the messages that it stands for."""
    names = set(map(string, members(fields.get("summarized_message_ids"))))
    hidden = (place for place, entry in enumerate(entries) if entry.id and entry.id in names)
    return Reduced(text, frozenset(hidden))
