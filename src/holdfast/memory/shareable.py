"""What of a transcript a memory provider may see.

It is somebody else's service, perhaps on another machine: it gets words and what tools said,
without secrets, and nothing that memory itself brought in. A `/skill` becomes pages of somebody
else's text before it reaches the model: memory and titles go by what the user wrote after the
command, and where nothing followed it, by the command itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.redaction.redactor import redacting
from holdfast.transcript import Message, Part, Role, Summary, Text, ToolCall, ToolResult, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_SCAFFOLD = re.compile(
    r"<(command-name|command-message|command-args|command-contents)>(.*?)</\1>", re.DOTALL
)
_NAME, _ARGUMENTS = "command-name", "command-args"
_SKILL_FOLDER = re.compile(r"Base directory for this skill: *([^\n]*)")
_SKILL_BLOCK = re.compile(r"<skill(?: [^<>]*)?>.*?</skill>", re.DOTALL)
_SKILL_NAME = re.compile(
    r"<skill [^<>]*?name=\"([^\"<>]+)\"|<skill(?: [^<>]*)?>\s*<name>([^<>]+)</name>"
)
_INVOKED = re.compile(r'\[(?:IMPORTANT|SYSTEM): The user has invoked the "([^"\n]+)" skill')
_ALONGSIDE = re.compile(
    r"(?s:.*)The user has provided the following instruction alongside the skill (?:invocation|"
    r"command): *"
)
_BUNDLED = re.compile(r"\nUser instruction: *")
_AFTER_BUNDLED = "\n\n[Loaded as part of the "
_RUNTIME_NOTE = "\n\n[Runtime note:"
_GIVEN = re.compile(r"(?s:.*)\n\s*\nARGUMENTS: *")
"""The last mention: the body of a skill may speak of arguments too."""
_LONG_ENOUGH = 400
"""A shorter text before `ARGUMENTS:` may be somebody's own."""
_BARE = re.compile(r"/[\w:.-]+")


def own_words(text: str) -> str:
    """Return the user's own instruction from the expansion of a command; other text as it is.

    A command without an instruction is its name, such as `/review`.
    """
    start = text.lstrip()
    if start.startswith(("<command-", "<skill")):
        return _tagged(start) if start.startswith("<command-") else _blocks(start)
    if invoked := _INVOKED.match(start):
        return _alongside(start) or _command(invoked[1])
    if folder := _SKILL_FOLDER.match(start):
        name = re.split(r"[/\\]", folder[1].strip().rstrip("/\\"))[-1]
        found = _GIVEN.match(start)
        return (start[found.end() :].strip() if found else "") or _command(name)
    given = _GIVEN.match(text)
    if given is not None and given.end() > _LONG_ENOUGH:
        return text[given.end() :].strip() or text
    return text


def is_bare_command(words: str) -> bool:
    """Say whether the words are a command and nothing else: there is nothing to remember."""
    return _BARE.fullmatch(words.strip()) is not None


def _tagged(text: str) -> str:
    found = {name: content.strip() for name, content in reversed(_SCAFFOLD.findall(text))}
    if _NAME not in found:
        return text
    rest = _SCAFFOLD.sub("", text).strip()
    if rest and _SKILL_FOLDER.match(rest):
        rest = ""
    said = "\n\n".join(filter(None, (found.get(_ARGUMENTS, ""), rest)))
    return said or _command(found[_NAME])


def _blocks(text: str) -> str:
    named = _SKILL_NAME.match(text)
    rest = text
    while block := _SKILL_BLOCK.match(rest):
        rest = rest[block.end() :].lstrip()
    if rest == text:
        return text
    return rest.strip() or (_command(named[1] or named[2]) if named else "")


def _alongside(text: str) -> str:
    if found := _ALONGSIDE.match(text):
        return text[found.end() :].partition(_RUNTIME_NOTE)[0].strip()
    if found := _BUNDLED.search(text):
        return text[found.end() :].partition(_AFTER_BUNDLED)[0].strip()
    return ""


def _command(name: str) -> str:
    return f"/{name.strip().removeprefix('/')}"


def shareable(messages: Transcript, redact: Callable[[str], str]) -> Transcript:
    """Return the messages with their words redacted; what is not words is left out.

    Recalled memory is left out as well: a provider that took it in would remember its own words.
    A system prompt is nobody's words in a conversation.
    """
    said = [message for message in messages if message.role is not Role.SYSTEM]
    masked = redacting((text for message in said for text in _texts(message)), redact)
    found: list[Message] = []
    for message in said:
        parts = tuple(_masked(message, masked))
        if parts:
            found.append(Message(message.role, parts))
    return tuple(found)


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        match part:
            case Text(text=text):
                yield own_words(text) if message.role is Role.USER else text
            case Summary(text=text):
                yield text
            case ToolCall(arguments=arguments):
                yield arguments
            case ToolResult(content=content):
                yield from (each.text for each in content if isinstance(each, Text))
            case _:
                pass


def _masked(message: Message, masked: Callable[[str], str]) -> Iterator[Part]:
    for part in message.parts:
        match part:
            case Text(text=text):
                yield Text(masked(own_words(text) if message.role is Role.USER else text))
            case Summary(text=text, origin=origin, claimed=claimed):
                yield Summary(masked(text), origin, claimed=claimed)
            case ToolCall(id=id_, name=name, arguments=arguments):
                yield ToolCall(id_, name, masked(arguments))
            case ToolResult(call_id=id_, content=content, is_error=is_error, name=name):
                texts = tuple(Text(masked(each.text)) for each in content if isinstance(each, Text))
                yield ToolResult(id_, texts, is_error, name)
            case _:
                pass
