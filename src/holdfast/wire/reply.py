"""What a provider answered: the message in it, and the usage it reports.

The shape of the answer says whose it is; nobody has to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from holdfast.errors import DecodeError
from holdfast.session import Usage
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from holdfast.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a model."""

    messages: Transcript
    usage: Usage = field(default_factory=Usage)
    model: str = ""


def read_reply(answer: Mapping[str, object]) -> Reply:
    """Read an answer of OpenAI chat, OpenAI Responses, Anthropic or Gemini, or a bare message.

    Raises:
        DecodeError: when the answer has none of their shapes; the message says what was found.
    """
    model = str(answer.get("model") or answer.get("modelVersion") or "")
    usage = _usage(_fields(answer.get("usage") or answer.get("usageMetadata")))
    dialect, messages = _messages(answer)
    return Reply(DIALECTS[dialect].decode(Body(messages)), usage, model)


def _messages(answer: Mapping[str, object]) -> tuple[str, list[dict[str, object]]]:
    if choices := _items(answer.get("choices")):
        message = _fields(choices[0].get("message"))
        return "openai", [{"role": "assistant", **message}]
    if isinstance(answer.get("output"), list):
        return "responses", [dict(item) for item in _items(answer["output"])]
    if candidates := _items(answer.get("candidates")):
        return "gemini", [{"role": "model", **_fields(candidates[0].get("content"))}]
    if answer.get("type") == "message" and isinstance(answer.get("content"), list):
        return "anthropic", [{"role": answer.get("role"), "content": answer["content"]}]
    if "role" in answer:
        # A message on its own; blocks that only Anthropic has tell its messages apart.
        kinds = {item.get("type") for item in _items(answer.get("content"))}
        is_theirs = kinds & {"tool_use", "tool_result", "thinking", "redacted_thinking"}
        return "anthropic" if is_theirs else "openai", [dict(answer)]
    found = ", ".join(sorted(map(str, answer))) or "nothing"
    raise DecodeError("reply", "answer", f"no provider's answer looks like this; it has: {found}")


def _usage(fields: Mapping[str, object]) -> Usage:
    """Return usage in one vocabulary; input tokens never include cached ones here."""
    if not fields:
        return Usage(calls=1)
    details = _fields(fields.get("prompt_tokens_details") or fields.get("input_tokens_details"))
    cached = _count(details.get("cached_tokens")) or _count(fields.get("cachedContentTokenCount"))
    whole = (
        _count(fields.get("prompt_tokens"))
        or _count(fields.get("input_tokens"))
        or _count(fields.get("promptTokenCount"))
    )
    answered = (
        _count(fields.get("completion_tokens"))
        or _count(fields.get("output_tokens"))
        or _count(fields.get("candidatesTokenCount")) + _count(fields.get("thoughtsTokenCount"))
    )
    return Usage(
        calls=1,
        input_tokens=max(whole - cached, 0),
        output_tokens=answered,
        cache_read_tokens=cached or _count(fields.get("cache_read_input_tokens")),
        cache_write_tokens=_count(fields.get("cache_creation_input_tokens")),
    )


def _fields(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _items(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list):
        return []
    return [_fields(item) for item in cast("list[object]", value)]


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
