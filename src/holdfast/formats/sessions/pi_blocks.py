"""The messages of a Pi session, put together.

What Pi has no block for becomes text: the address of a picture, an item of another provider that
says something anyone may read. Such an item that says nothing is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.loose import mapping, string
from holdfast.formats.sessions.pi_content import ORIGIN, ran_note
from holdfast.session import Usage
from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.wire.json_text import as_object, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.formats.chronicle import Native
    from holdfast.transcript import Message, Part

__all__ = ["answer", "blocks", "command", "result", "usage_of", "user"]

_APIS = {
    "anthropic": ("anthropic-messages", "anthropic"),
    "responses": ("openai-responses", "openai"),
    "gemini": ("google-generative-ai", "google"),
}
_NOBODY = ("openai-completions", "unknown")
_REASONS = frozenset(["stop", "length", "toolUse", "error", "aborted"])


def user(message: Message, at: int) -> dict[str, object]:
    """Return what a user said."""
    return {"role": "user", "content": list(blocks(message.parts)), "timestamp": at}


def answer(message: Message, native: Native, at: int) -> dict[str, object]:
    """Return an answer of the model, with all that Pi expects to know of one."""
    more = native.more
    api, provider = _api(message)
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
    """Return what a tool answered."""
    return {
        "role": "toolResult",
        "toolCallId": found.call_id,
        "toolName": found.name or name,
        "content": list(blocks(found.content)),
        "isError": found.is_error,
        "timestamp": at,
    }


def command(message: Message, more: Mapping[str, object], at: int) -> dict[str, object]:
    """Return a command that the user ran in the chat, from the words that it was read as."""
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
    """Return parts as blocks, without the results of tools, which are messages of their own."""
    for part in parts:
        match part:
            case Thinking():
                yield _thinking(part)
            case ToolCall(id=call_id, name=name, arguments=arguments, extras=extras):
                call = {"type": "toolCall", "id": call_id, "name": name}
                yield {**call, "arguments": as_object(arguments), **mapping(extras.get(ORIGIN))}
            case Text(text=text, extras=extras):
                yield {"type": "text", "text": text, **mapping(extras.get(ORIGIN))}
            case Media(kind="image", data=payload, media_type=kind) if payload:
                yield {"type": "image", "data": payload, "mimeType": kind}
            case ToolResult():
                continue
            case _:
                if text := _words(part):
                    yield {"type": "text", "text": text}


def _words(part: Part) -> str:
    match part:
        case Media(kind=kind, url=url, media_type=media_type):
            return f"[{kind}: {url or media_type}]"
        case Summary(text=text) | Recalled(text=text) | Opaque(readable=text):
            return text
        case _:
            return ""


def _thinking(part: Thinking) -> dict[str, object]:
    block: dict[str, object] = {"type": "thinking", "thinking": part.text}
    extras, seal = part.extras, part.signature
    if "responses" in extras:
        block["thinkingSignature"] = written(extras["responses"])
    elif mapping(extras.get("anthropic")).get("type") == "redacted_thinking":
        block |= {"thinkingSignature": seal or "", "redacted": True}
    elif seal is not None:
        block["thinkingSignature"] = seal
    elif field := string(mapping(extras.get("openai")).get("field")):
        block["thinkingSignature"] = field
    return block | dict(mapping(extras.get(ORIGIN)))


def _api(message: Message) -> tuple[str, str]:
    """Return whose answer it is, as far as its thinking gives that away."""
    for part in message.parts:
        for dialect, found in _APIS.items():
            if isinstance(part, Thinking) and dialect in part.extras:
                return found
    return _NOBODY


def usage_of(usage: Usage | None) -> dict[str, object]:
    """Return what an answer cost; Pi adds it up, so what nobody knows is nothing."""
    known = Usage() if usage is None else usage
    counts = {
        "input": known.input_tokens,
        "output": known.output_tokens,
        "cacheRead": known.cache_read_tokens,
        "cacheWrite": known.cache_write_tokens,
    }
    prices = {**dict.fromkeys(counts, 0), "total": known.cost}
    return {**counts, "totalTokens": sum(counts.values()), "cost": prices}
