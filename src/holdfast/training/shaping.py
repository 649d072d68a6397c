"""Gives messages the shape that trainers take, with every secret masked.

A conversation of a training file begins with its system prompt and a user's message and ends with
the assistant's. Request fields of providers stay behind; reasoning goes where the format has a
place for it, whoever reasoned.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from holdfast.compaction.repair import repair
from holdfast.formats.json_access import is_object, parsed
from holdfast.transcript import (
    NO_EXTRAS,
    Media,
    Message,
    Opaque,
    Recalled,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.wire.provenance import LABEL, label_of, labelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.redaction import Redactor
    from holdfast.transcript import Content, Extras, Message, Part, Transcript

_MASKED = "***"


@dataclass(slots=True)
class SecretMask:
    """Masks what a redactor finds, and counts the texts that it was found in."""

    redactor: Redactor | None
    """None leaves everything as it is."""
    count: int = field(default=0, init=False)

    def message(self, message: Message) -> Message:
        """Return a message without secrets."""
        if self.redactor is None:
            return message
        parts = tuple(self._part(part) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        if self.redactor is None or not text:
            return text
        masked = self.redactor.redact(text)
        self.count += masked != text
        return masked

    def value(self, value: object) -> object:
        """Return a JSON value without secrets, names of fields left as they are."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in cast("list[object]", value)]
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            return {name: self.value(each) for name, each in fields.items()}
        return value

    def _part(self, part: Part) -> Part:
        match part:
            case Text(text) | Thinking(text) | Summary(text) | Recalled(text):
                masked = self.text(text)
                return part if masked == text else replace(part, text=masked)
            case ToolCall(arguments=arguments):
                masked = self.text(arguments)
                if masked != arguments and not is_object(parsed(masked)):
                    masked = json.dumps(self._field("", json.loads(arguments)), ensure_ascii=False)
                return part if masked == arguments else replace(part, arguments=masked)
            case ToolResult():
                content = tuple(cast("Content", self._part(piece)) for piece in part.content)
                return part if content == part.content else replace(part, content=content)
            case Media(url=url):
                return replace(part, url=self.text(url)) if url else part
            case _:
                return part

    def _field(self, name: str, value: object) -> object:
        """Return a value that has a name, which may be what shows that it is a secret."""
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            return {key: self._field(key, each) for key, each in fields.items()}
        if isinstance(value, list):
            return [self._field(name, each) for each in cast("list[object]", value)]
        redactor = cast("Redactor", self.redactor)
        shown = json.dumps({name: value}, ensure_ascii=False)
        masked = redactor.redact(shown)
        if masked == shown:
            return redactor.redact(value) if isinstance(value, str) else value
        try:
            return cast("dict[str, object]", json.loads(masked)).get(name, _MASKED)
        except ValueError:
            return _MASKED


TRAINING_FORMATS = ("sharegpt", "openai", "anthropic")
_THOUGHTS: Mapping[str, Extras] = {
    "sharegpt": {"sharegpt": {}},
    "openai": {"openai": {"field": "reasoning_content"}},
}
"""Where each format has a place for anybody's reasoning."""
_BLANK = "\n\n"


@dataclass(frozen=True, slots=True)
class Paired:
    """Messages in which every call has its result, and how many were left out for that."""

    messages: Transcript
    dropped: int = 0


def plain(messages: Iterable[Message], name: str) -> Transcript:
    """Return messages without what only a provider understands; those that say nothing go."""
    found = (replace(each, parts=_plain_parts(each.parts, name), form="") for each in messages)
    return tuple(each for each in found if each.parts)


def _plain_parts(parts: Iterable[Part], name: str) -> tuple[Part, ...]:
    kept: list[Part] = []
    for part in parts:
        found = _plain_part(part, name)
        if found is None:
            continue
        last = kept[-1] if kept else None
        if isinstance(found, Text) and isinstance(last, Text):
            # One text, because chat templates take text and not a list of parts.
            kept[-1] = Text(f"{last.text}{_BLANK}{found.text}")
        else:
            kept.append(found)
    return tuple(kept)


def _plain_part(part: Part, name: str) -> Part | None:
    match part:
        case Text(text) | Opaque(readable=text):
            return Text(text) if text.strip() else None
        case Thinking(text, signature, extras):
            if name in _THOUGHTS:
                return Thinking(text, extras=_THOUGHTS[name]) if text.strip() else None
            # Anthropic refuses a thought that it did not sign.
            return part if text and signature and name in extras else None
        case ToolCall(id_, called, arguments):
            return ToolCall(id_, called or "tool", _as_json(arguments))
        case ToolResult(call_id, content, is_error, called):
            pieces = _plain_parts(content, name)
            said = tuple(each for each in pieces if isinstance(each, Text | Media))
            return ToolResult(call_id, said, is_error=is_error, name=called)
        case Media():
            return replace(part, extras=NO_EXTRAS)
        case _:
            return part


def _as_json(arguments: str) -> str:
    """Return arguments as JSON text, which not every model writes."""
    if not arguments.strip():
        return "{}"
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return json.dumps({"arguments": arguments}, ensure_ascii=False)
    return arguments


def paired_with_stubs(messages: Transcript) -> Paired:
    """Give each call one result right after it; one that has none gets a labelled stub."""
    repaired = _named(repair(messages))
    return Paired(
        tuple(
            labelled(each, synthetic="stub")
            if each.synthetic is Synthetic.STUB and not label_of(each)
            else each
            for each in repaired
        ),
        _lost(messages, repaired),
    )


def paired(messages: Transcript) -> Paired:
    """Give each call its result right after it; calls and results that are alone are left out."""
    repaired = _named(repair(messages))
    kept: list[Message] = []
    dropped = _lost(messages, repaired)
    for message in repaired:
        if message.synthetic is Synthetic.STUB:
            _take_out_call(kept, message.results[0].call_id)
            dropped += 1
        else:
            kept.append(message)
    return Paired(tuple(each for each in kept if each.parts), dropped)


def _named(messages: Transcript) -> Transcript:
    """Return messages whose results bear the names of their calls, as ShareGPT writes them."""
    names: dict[str, str] = {}
    found: list[Message] = []
    for message in messages:
        names |= {call.id: call.name for call in message.calls}
        parts = tuple(
            replace(part, name=names.get(part.call_id, ""))
            if isinstance(part, ToolResult) and not part.name
            else part
            for part in message.parts
        )
        found.append(message if parts == message.parts else replace(message, parts=parts))
    return tuple(found)


def _lost(before: Transcript, after: Transcript) -> int:
    """Return how many results went because nothing called for them."""
    stubs = sum(each.synthetic is Synthetic.STUB for each in after)
    already = sum(each.synthetic is Synthetic.STUB for each in before)
    counts = [sum(len(each.results) for each in side) for side in (before, after)]
    return max(counts[0] - counts[1] + stubs - already, 0)


def _take_out_call(kept: list[Message], call_id: str) -> None:
    """Take the newest call with this id out of its message."""
    for place in range(len(kept) - 1, -1, -1):
        message = kept[place]
        if any(call.id == call_id for call in message.calls):
            rest = tuple(
                part
                for part in message.parts
                if not (isinstance(part, ToolCall) and part.id == call_id)
            )
            # A thought that led to nothing but this call has nothing to lead to.
            says_more = any(not isinstance(part, Thinking) for part in rest)
            kept[place] = replace(message, parts=rest if says_more else ())
            return


def trimmed(messages: Transcript) -> Transcript:
    """Return what stands from the system prompt and first user message to the last reply.

    It is empty where no reply follows a user.
    """
    start = 0
    while start < len(messages) and messages[start].role is Role.SYSTEM:
        start += 1
    opening = next(
        (at for at in range(start, len(messages)) if messages[at].role is Role.USER), None
    )
    replies = [at for at, each in enumerate(messages) if each.role is Role.ASSISTANT]
    if opening is None or not replies or replies[-1] < opening:
        return ()
    return (*messages[:start], *messages[opening : replies[-1] + 1])


def joined(messages: Sequence[Message], name: str) -> Transcript:
    """Return messages with neighbors of one speaker as one.

    ShareGPT has one turn for all results of a reply, Anthropic one message for them and the
    user's words; OpenAI has a message for each result.
    """
    found: list[Message] = []
    for message in messages:
        last = found[-1] if found else None
        if last is not None and _are_one(last, message, name):
            parts = (*last.parts, *message.parts)
            # Results stand before everything else, and neighboring texts are one.
            results = [part for part in parts if isinstance(part, ToolResult)]
            rest = [part for part in parts if not isinstance(part, ToolResult)]
            parts = (*results, *_plain_parts(rest, name))
            extras = {**last.extras, **message.extras, LABEL: _label(last, message)}
            role = Role.TOOL if Role.TOOL in (last.role, message.role) else message.role
            found[-1] = replace(last, role=role, parts=parts, synthetic=None, extras=extras)
        else:
            found.append(message)
    return tuple(found)


def _are_one(last: Message, message: Message, name: str) -> bool:
    if name == "openai" and (_has_block(last) or _has_block(message)):
        # Content is one text there as long as nothing stands between the words of a message.
        return False
    if last.role is Role.TOOL or message.role is Role.TOOL:
        spoken = (Role.TOOL, Role.USER) if name == "anthropic" else (Role.TOOL,)
        return name != "openai" and last.role in spoken and message.role in spoken
    return last.role is message.role


def _has_block(message: Message) -> bool:
    return any(isinstance(part, Summary | Recalled) for part in message.parts)


def _label(first: Message, second: Message) -> dict[str, object]:
    """Return the label of two messages that became one."""
    labels = (label_of(first), label_of(second))
    if labels[0] == labels[1]:
        return dict(labels[0])
    found: dict[str, object] = {}
    for label in reversed(labels):
        if "synthetic" in label:
            found = {key: label[key] for key in label if key not in ("masked", "repeated")}
    if found:
        found["partial"] = True
    # What holdfast wrote is never learned; what was learned before is where nothing else is.
    synthetic_masked = any(each.get("masked") and "synthetic" in each for each in labels)
    if synthetic_masked or all(each.get("masked") for each in labels):
        found["masked"] = True
    return found
