"""The entries that events become in a Pi session, without their place in the tree.

What Pi has no block for becomes text: the address of a picture, an item of another provider that
says something anyone may read. Such an item that says nothing is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.formats.json_access import JsonObject, iso, mapping, mappings, string
from holdfast.formats.pi.content import ORIGIN, SUMMARY, SYSTEM, ran_note
from holdfast.formats.reader import derived_uuid, digest
from holdfast.session import Usage
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
)
from holdfast.wire.json_text import as_object, written

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from holdfast.formats.events import About, MessageEvent, SourceMetadata
    from holdfast.transcript import Message, Part

_APIS = {
    "anthropic": ("anthropic-messages", "anthropic"),
    "responses": ("openai-responses", "openai"),
    "gemini": ("google-generative-ai", "google"),
}
_NOBODY = ("openai-completions", "unknown")
_REASONS = frozenset(["stop", "length", "toolUse", "error", "aborted"])


def user(message: Message, at: int) -> dict[str, object]:
    """Return a user's message as Pi writes it."""
    return {"role": "user", "content": list(blocks(message.parts)), "timestamp": at}


def answer(message: Message, native: SourceMetadata, at: int) -> dict[str, object]:
    """Return an answer of the model as Pi writes it, with every field that Pi expects."""
    more = native.more
    # Whose answer it is, as far as its thinking gives that away.
    thinking = [part for part in message.parts if isinstance(part, Thinking)]
    known = (found for part in thinking for name, found in _APIS.items() if name in part.extras)
    api, provider = next(known, _NOBODY)
    reason = string(more.get("stopReason"))
    usual = "toolUse" if message.calls else "stop"
    written_answer: dict[str, object] = {
        "role": "assistant",
        "content": list(blocks(message.parts)),
        "api": string(more.get("api")) or api,
        "provider": string(more.get("provider")) or provider,
        "model": native.model,
        "usage": usage_of(native.usage),
        "stopReason": reason if reason in _REASONS else usual,
        "timestamp": at,
    }
    if native.reply:
        written_answer["responseId"] = native.reply
    if failed := string(more.get("errorMessage")):
        written_answer["errorMessage"] = failed
    return written_answer


def result(found: ToolResult, name: str, at: int) -> dict[str, object]:
    """Return the result of a tool as Pi writes it."""
    return {
        "role": "toolResult",
        "toolCallId": found.call_id,
        "toolName": found.name or name,
        "content": list(blocks(found.content)),
        "isError": found.is_error,
        "timestamp": at,
    }


def command(message: Message, more: JsonObject, at: int) -> dict[str, object]:
    """Return a command that the user ran as Pi writes it, from the words that it was read as."""
    asked, *rest = [part.text for part in message.parts if isinstance(part, Text)] or [""]
    output = next((text for text in rest if text != ran_note(more)), "")
    ran = {key: value for key, value in more.items() if key != "role"}
    return {
        "role": "bashExecution",
        "command": asked.removeprefix("I ran `").removesuffix("`:"),
        "output": output,
        "cancelled": False,
        "truncated": False,
        **({} if "exitCode" in ran or "cancelled" in ran else {"exitCode": 0}),
        **ran,
        "timestamp": at,
    }


def blocks(parts: Iterable[Part]) -> Iterator[dict[str, object]]:
    """Yield the content blocks of parts; results of tools are left out, being messages."""
    for part in parts:
        match part:
            case Thinking():
                block: dict[str, object] = {"type": "thinking", "thinking": part.text}
                more, seal = part.extras, part.signature
                if "responses" in more:
                    block["thinkingSignature"] = written(more["responses"])
                elif mapping(more.get("anthropic")).get("type") == "redacted_thinking":
                    block |= {"thinkingSignature": seal or "", "redacted": True}
                elif seal is not None:
                    block["thinkingSignature"] = seal
                elif field := string(mapping(more.get("openai")).get("field")):
                    block["thinkingSignature"] = field
                yield (block | dict(mapping(more.get(ORIGIN))))
            case ToolCall(id=call_id, name=name, arguments=arguments, extras=extras):
                call = {"type": "toolCall", "id": call_id, "name": name}
                yield {**call, "arguments": as_object(arguments), **mapping(extras.get(ORIGIN))}
            case Text(text=text, extras=extras):
                yield {"type": "text", "text": text, **mapping(extras.get(ORIGIN))}
            case Media(kind="image", data=payload, media_type=kind) if payload:
                yield {"type": "image", "data": payload, "mimeType": kind}
            case ToolResult():
                continue
            case Media(kind=medium, url=url, media_type=kind):
                yield {"type": "text", "text": f"[{medium}: {url or kind}]"}
            case Summary(text=text) | Recalled(text=text) | Opaque(readable=text) if text:
                yield {"type": "text", "text": text}
            case _:
                continue


def usage_of(usage: Usage | None) -> dict[str, object]:
    """Return the tokens and the price of an answer; Pi adds them up, so what is unknown is 0."""
    known = Usage() if usage is None else usage
    counts = {
        "input": known.input_tokens,
        "output": known.output_tokens,
        "cacheRead": known.cache_read_tokens,
        "cacheWrite": known.cache_write_tokens,
    }
    prices = {**dict.fromkeys(counts, 0), "total": known.cost}
    return {**counts, "totalTokens": sum(counts.values()), "cost": prices}


_START = 946_684_800_000
"""The first moment of 2000, for what has no time."""
_SOUND = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What Pi takes for the id of a session, which is part of a file's name."""


@dataclass(frozen=True, slots=True)
class EntryContent:
    """The type and the fields of an entry, without its id, parent and time."""

    kind: str
    fields: JsonObject


class EntryIds:
    """Gives every entry an id and a time, the same whenever the session is written."""

    def __init__(self, about: About) -> None:
        self.session = about.id
        if not _SOUND.fullmatch(about.id):
            known = f"{about.id}\n{about.title}\n{about.cwd}\n{about.started}"
            self.session = derived_uuid(known)
        self._used: set[str] = set()
        self._now = _START if about.started is None else about.started

    def id_for(self, wanted: str, key: str) -> str:
        """Return the wanted id if it is free, else one that is made of the key."""
        found, count = wanted, 0
        while not found or found in self._used:
            found = digest(f"{self.session}\n{key}\n{count}")[: 8 + count]
            count += 1
        self._used.add(found)
        return found

    def has(self, id_: str) -> bool:
        """Say whether an entry has that id."""
        return id_ in self._used

    def time(self, at: int | None) -> int:
        """Return a time; what has none comes a moment after what was written before."""
        self._now = self._now + 1 if at is None else at
        return self._now


class WrittenEntries:
    """Knows the ids of the entries that messages became, and what those entries hold."""

    def __init__(self) -> None:
        self.contents: dict[str, EntryContent] = {}
        self.copies: dict[str, str] = {}
        """The newest copies of entries."""
        self._names: dict[str, tuple[str, ...]] = {}

    def enter(self, keys: Iterable[str], names: Iterable[str]) -> None:
        """Record the entries that messages became together."""
        self._names |= dict.fromkeys(keys, tuple(names))

    def names(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the entries of messages, each once."""
        return tuple(dict.fromkeys(name for key in keys for name in self._names.get(key, ())))

    def hidden_calls(self, shows: Iterable[str]) -> frozenset[str]:
        """Return the calls whose results stand in the file and not among these entries.

        A window may show a piece of an answer without its calls; an entry holds the whole answer.
        """
        messages = {
            name: mapping(each.fields.get("message")) for name, each in self.contents.items()
        }
        answered = {name: string(each.get("toolCallId")) for name, each in messages.items()}
        return frozenset(answered.values()) - {answered[name] for name in shows} - {""}

    def newest(self, name: str | None) -> str | None:
        """Return the newest copy of an entry, or the entry itself."""
        return None if name is None else self.copies.get(name, name)


def header(about: About, ids: EntryIds) -> dict[str, object]:
    """Return the first line of a file."""
    started = _START if about.started is None else about.started
    found: dict[str, object] = {
        "type": "session",
        "version": 3,
        "id": ids.session,
        "timestamp": iso(started),
        "cwd": about.cwd,
    }
    origin = string(about.more.get("parentSession")) or string(about.more.get("branchedFrom"))
    if origin or about.parent:
        found["parentSession"] = origin or f"_{about.parent}.jsonl"
    return found


def notes(about: About) -> Iterator[EntryContent]:
    """Return what is known of a session besides what was said in it."""
    more = about.more
    if about.title:
        yield EntryContent("session_info", {"name": about.title})
    if about.model:
        provider = string(more.get("provider")) or "unknown"
        yield EntryContent("model_change", {"provider": provider, "modelId": about.model})
    if level := string(more.get("thinkingLevel")):
        yield EntryContent("thinking_level_change", {"thinkingLevel": level})


def contents_of(told: MessageEvent, calls: dict[str, str], at: int) -> Iterator[EntryContent]:
    """Return the entries of a message; `calls` learns which tool each call asked for."""
    message = told.message
    match message.role:
        case Role.SYSTEM:
            data = {"content": list(blocks(message.parts))}
            yield EntryContent("custom", {"customType": SYSTEM, "data": data})
        case Role.ASSISTANT:
            calls.update((call.id, call.name) for call in message.calls)
            yield _message(answer(message, told.native, at))
        case Role.TOOL:
            spent = told.native.usage
            for found in message.results:
                fields = result(found, calls.get(found.call_id, ""), at)
                yield _message(fields if spent is None else {**fields, "usage": usage_of(spent)})
                spent = None
            rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
            if rest or not message.parts:
                yield _message(user(replace(message, parts=rest), at))
        case Role.USER:
            more = mapping(told.native.more)
            content = list(blocks(message.parts))
            custom: dict[str, object] = {
                "customType": string(more.get("customType")),
                "content": content,
                "display": more.get("display") is True,
            }
            match (more.get("entry"), more.get("role")):
                case _ if message.summary is not None:
                    yield summary_content(message.summary.text)
                case ("branch_summary", _):
                    origin = string(more.get("fromId")) or "root"
                    fields: dict[str, object] = {"fromId": origin, "summary": message.text}
                    if told.native.usage is not None:
                        fields["usage"] = usage_of(told.native.usage)
                    yield EntryContent("branch_summary", fields)
                case ("custom_message", _):
                    yield EntryContent("custom_message", custom)
                case (_, "custom"):
                    yield _message({"role": "custom", **custom, "timestamp": at})
                case (_, "bashExecution"):
                    yield _message(command(message, more, at))
                case _:
                    yield _message(user(message, at))


def summary_content(text: str) -> EntryContent:
    """Return a summary that stands among the messages."""
    return EntryContent("custom_message", {"customType": SUMMARY, "content": text, "display": True})


def copied(content: EntryContent, hidden: Container[str]) -> EntryContent:
    """Return an entry to be written again: its usage is zero, and its hidden calls are left out."""
    message = mapping(content.fields.get("message"))
    if message.get("role") != "assistant":
        return content
    kept = [
        each for each in mappings(message.get("content")) if string(each.get("id")) not in hidden
    ]
    return _message({**message, "content": kept, "usage": usage_of(None)})


def _message(fields: JsonObject) -> EntryContent:
    return EntryContent("message", {"message": fields})
