"""What counts as an exact name, said a second time and independently of `holdfast.facts`.

The benchmark must not ask only for what our own extractor happens to find, so this module has its
own notion of a name and shares no code with the package.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from holdfast.transcript import Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.transcript import Message

NAME = re.compile(
    r"""
      (?P<url>https?://[^\s"'`<>()\[\]{}|\\,;*]+)
    | (?P<path>(?<![\w.~/-])(?:~|\.{1,2})?/?[A-Za-z0-9_.@+-]+(?:/[A-Za-z0-9_.@+-]+)+)
    | (?P<flag>(?<![\w-])--[A-Za-z][A-Za-z0-9-]+)
    | (?P<dotted>\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)
    | (?P<kebab>\b[A-Za-z]\w*(?:-\w+)+)
    | (?P<version>\bv?\d+\.\d+(?:\.\d+)*\b)
    | (?P<word>\b[A-Za-z_]\w{3,}\b|\b[0-9a-f]{7,40}\b)
    | (?P<number>(?<![\w.])\d{3,}(?![\w.]))
    """,
    re.VERBOSE | re.ASCII,
)
COMMIT = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{7,40}")
STRUCTURE = re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|[A-Za-z]\d|^[A-Z][A-Z0-9]{3,}$|^__?\w+")
SHORTEST = 4
LONGEST = 200
# Words of code and of English that carry the shape of a name and say nothing about a project.
TRIVIAL = frozenset(
    """
    and/or e.g i.e etc. n/a a.m p.m yes/no true/false read/write input/output /dev/null utf-8 utf8
    2>&1 JSON HTTP HTTPS HTML TODO NOTE FIXME README NULL TRUE FALSE SELECT FROM WHERE INSERT UPDATE
    DELETE POST HEAD PATCH INFO WARN ERROR DEBUG WARNING GitHub JavaScript TypeScript __init__
    __name__ __main__ self.assertEqual re-run up-to-date built-in non-empty well-known
    """.split()
)


def names(text: str) -> Iterator[str]:
    """Yield each exact name in the text, as often as it occurs."""
    for match in NAME.finditer(text):
        name = match.group().rstrip(".-/:@+")
        if SHORTEST <= len(name) <= LONGEST and name not in TRIVIAL and _is_exact(match, name):
            yield name


def _is_exact(match: re.Match[str], name: str) -> bool:
    match match.lastgroup:
        case "word":
            return bool(COMMIT.fullmatch(name) or STRUCTURE.search(name))
        case "kebab":
            return any(character.isdigit() or character == "_" for character in name)
        case "path":
            return any(character.isalpha() for character in name)
        case _:
            return True


def said(messages: Iterable[Message]) -> Iterator[str]:
    """Yield what the agent itself wrote: its words and the values of its tool calls."""
    for message in messages:
        if message.role is not Role.ASSISTANT:
            continue
        for part in message.parts:
            match part:
                case Text(text=text):
                    yield text
                case ToolCall(arguments=arguments):
                    yield from _values(arguments)
                case _:
                    pass


def heard(messages: Iterable[Message]) -> Iterator[str]:
    """Yield everything that stood in the messages, whoever said it."""
    for message in messages:
        for part in message.parts:
            match part:
                case ToolResult():
                    yield part.text
                case ToolCall(arguments=arguments):
                    yield from _values(arguments)
                case _:
                    yield getattr(part, "text", "")


def needed(folded: Sequence[Message], future: Sequence[Message]) -> frozenset[str]:
    """Return the names the agent used afterwards that it had met before."""
    used = {name for text in said(future) for name in names(text)}
    known = {name for text in heard(folded) for name in names(text)}
    tools = {call.name for message in (*folded, *future) for call in message.calls}
    return frozenset((used & known) - tools)


def present(name: str, window: str) -> bool:
    """Say whether the name stands in the window; a number must not be a piece of a longer one."""
    if name.isdigit():
        return re.search(rf"(?<!\d){name}(?!\d)", window) is not None
    return name in window


def _values(arguments: str) -> Iterator[str]:
    try:
        value: object = json.loads(arguments)
    except ValueError:
        value = arguments
    yield from _strings(value)


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _strings(each)
        case list():
            for each in value:
                yield from _strings(each)
        case None | bool():
            pass
        case _:
            yield str(value)
