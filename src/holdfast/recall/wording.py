"""A stored message as words for a reader, and whether it is itself the result of a search.

What a search returned must not be found by the next one: it repeats the words that were asked
for, and would stand above the messages that said them first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from holdfast.recall.snippets import matches
from holdfast.session import searchable
from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_user_word,
)
from holdfast.transcript.blocks import words_typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.recall.query import Query
    from holdfast.transcript import Message, Part

__all__ = ["TOOL_NAME", "is_echo", "is_output", "is_said_by", "tool_of", "words_of"]

TOOL_NAME = "session_search"
"""The name under which models call the search."""


def words_of(message: Message) -> str:
    """Return a message as text: nothing vanishes, what has no words is named.

    Reasoning is shown only where there is nothing else.
    """
    shown = [_words(part) for part in message.parts if not isinstance(part, Thinking)]
    text = "\n".join(each for each in shown if each)
    if not text:
        text = "\n".join(part.text for part in message.parts if isinstance(part, Thinking))
    # Half a character pair cannot be sent to anyone.
    return text.encode("utf-8", "replace").decode("utf-8")


def tool_of(message: Message) -> str:
    """Return the names of the tools that answer in a message."""
    return ", ".join(dict.fromkeys(result.name for result in message.results if result.name))


def is_output(message: Message) -> bool:
    """Say whether a message is a tool's output or nothing but calls: what is cut first."""
    return message.role is Role.TOOL or (bool(message.calls) and not message.text.strip())


def is_said_by(message: Message, roles: Sequence[Role]) -> bool:
    """Say whether one of the roles said a message; all of them do where none is named.

    A user says what somebody typed. Summaries, and what agents write in the user's name, have the
    role of a user and are nobody's word.
    """
    if not roles or message.role is not Role.USER:
        return not roles or message.role in roles
    text = message.text
    is_typed = is_user_word(message) and (not text or bool(words_typed(text)))
    return is_typed and Role.USER in roles


def is_echo(message: Message, query: Query, names: Mapping[str, str]) -> bool:
    """Say whether a message matches a query only because of an earlier search in it.

    Args:
        message: What was found.
        query: What was looked for.
        names: The names of calls by their ids, where results do not carry them.
    """
    kept = tuple(part for part in message.parts if not _is_recall(part, names))
    if len(kept) == len(message.parts):
        return False
    rest = searchable(replace(message, parts=kept))
    return not matches(rest, query)


def _is_recall(part: Part, names: Mapping[str, str]) -> bool:
    match part:
        case ToolCall(name=name):
            return name == TOOL_NAME
        case ToolResult(name=name, call_id=call_id):
            return (name or names.get(call_id)) == TOOL_NAME
        case _:
            return False


def _words(part: Part) -> str:
    match part:
        case Text(text) | Thinking(text):
            return text
        case Summary(text):
            return f"[summary] {text}"
        case Recalled(text):
            return f"[recalled] {text}"
        case ToolCall(name=name, arguments=arguments):
            return f"[calls {name} {arguments}]"
        case ToolResult(content=content):
            return "\n".join(filter(None, map(_words, content)))
        case Media(kind=kind, media_type=media_type, url=url):
            named = "" if url.startswith("data:") else url
            return f"[{' '.join(filter(None, (kind, media_type, named)))}]"
        case Opaque(readable=readable, dialect=dialect):
            return readable or f"[an item of {dialect}]"
        case _:
            assert_never(part)
