"""What a provider refuses, beyond what the rules of our own formats say.

Providers take no field that they do not know, no reasoning that is not theirs, and no reasoning
apart from what it led to. What a client sends of its own accord is listed as its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from holdfast.formats.documents import SYSTEM_KEYS
from holdfast.recognition.request import MESSAGES
from holdfast.wire import DIALECTS, Body

Fields = Mapping[str, Any]
_BREAKPOINTS = 4
_UNSEALED = "skip_thought_signature_validator"
"""What Gemini takes in place of a seal that a client has lost."""
_CHAT_ID, _RESPONSES_ID = 40, 64
"""How long the id of a call may be."""
_ITEM_IDS = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_PASSED = "internal_chat_message_metadata_passthrough"
_KNOWN: Mapping[tuple[str, str], str] = {
    ("anthropic", "user"): "role content",
    ("anthropic", "assistant"): "role content",
    ("anthropic", "system"): "role content output_config",
    ("anthropic", "text"): "type text cache_control citations",
    ("anthropic", "thinking"): "type thinking signature",
    ("anthropic", "tool_use"): "type id name input cache_control",
    ("anthropic", "tool_result"): "type tool_use_id content is_error cache_control",
    ("openai", "system"): "role content name",
    ("openai", "developer"): "role content name",
    ("openai", "user"): "role content name",
    ("openai", "assistant"): "role content name tool_calls refusal reasoning_content",
    ("openai", "tool"): "role content name tool_call_id",
    ("openai", "text"): "type text",
    ("openai", "function"): "type id function",
    ("responses", "message"): f"type id role content status {_PASSED}",
    ("responses", "reasoning"): f"type id summary content encrypted_content {_PASSED}",
    ("responses", "function_call"): f"type id call_id name arguments status {_PASSED}",
    ("responses", "function_call_output"): f"type id call_id output status {_PASSED}",
    ("responses", "input_text"): "type text",
    ("responses", "output_text"): "type text annotations",
    ("gemini", "user"): "role parts",
    ("gemini", "model"): "role parts",
    ("gemini", "part"): "text thought thoughtSignature functionCall functionResponse",
    ("gemini", "functionCall"): "id name args",
    ("gemini", "functionResponse"): "id name response",
}
"""The fields that each kind of message or part has."""


def refusals(dialect: str, body: Fields, sealed: Mapping[str, str]) -> list[str]:
    """Return why a provider would refuse a request.

    Args:
        dialect: The format of the request.
        body: What was sent.
        sealed: What the provider has thought, by the seal with which it was given away.
    """
    messages: list[Fields] = body[MESSAGES[dialect]]
    beside = next((body[name] for name in SYSTEM_KEYS[dialect] if body.get(name)), None)
    found = DIALECTS[dialect].validate(Body([dict(each) for each in messages], beside))
    reasons = [f"{each.rule} at {each.index}: {each.message}" for each in found]
    return [*reasons, *_unknown(dialect, messages), *_CHECKS[dialect](body, messages, sealed)]


def _unknown(dialect: str, messages: Sequence[Fields]) -> Iterator[str]:
    for place, message in enumerate(messages):
        kind = message.get("type", "message") if dialect == "responses" else message["role"]
        inner = message.get("parts" if dialect == "gemini" else "content")
        parts = [*(inner if isinstance(inner, list) else []), *(message.get("tool_calls") or [])]
        for each, name in [(message, kind), *((each, each.get("type", "part")) for each in parts)]:
            known = _KNOWN.get((dialect, name))
            if known is None:
                yield f"fields at {place}: there is no {name}"
            elif more := set(each) - {*known.split()}:
                yield f"fields at {place}: {name} has no {sorted(more)}"


def _anthropic(
    body: Fields, messages: Sequence[Fields], sealed: Mapping[str, str]
) -> Iterator[str]:
    tools, system = body.get("tools") or [], body.get("system") or []
    blocks = [(place, block) for place, each in enumerate(messages) for block in _blocks(each)]
    held = [*tools, *(system if isinstance(system, list) else []), *(block for _, block in blocks)]
    if sum("cache_control" in each for each in held) > _BREAKPOINTS:
        yield f"cache: more than {_BREAKPOINTS} breakpoints"
    for place, block in blocks:
        if block["type"] == "thinking" and sealed.get(block["signature"]) != block["thinking"]:
            yield f"seal at {place}: not what was thought"
    for place, message in enumerate(messages):
        if message["role"] == "assistant" and _blocks(message)[-1:]:
            kinds = [block["type"] for block in _blocks(message)]
            if kinds[-1] == "thinking":
                yield f"order at {place}: nothing follows what was thought"
            if "thinking" in kinds[1:] and kinds[0] != "thinking":
                yield f"order at {place}: thinking does not stand first"
    for one, other in pairwise(each for each in messages if each["role"] != "system"):
        if one["role"] == other["role"]:
            yield f"order: two messages of the {one['role']} in a row"


def _blocks(message: Fields) -> list[Fields]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _chat(_: Fields, messages: Sequence[Fields], sealed: Mapping[str, str]) -> Iterator[str]:
    thoughts = set(sealed.values())
    for place, message in enumerate(messages):
        if message["role"] in ("system", "developer") and place:
            yield f"order at {place}: a system prompt after the beginning"
        if message.get("reasoning_content", "") not in {"", *thoughts}:
            yield f"seal at {place}: not what was thought"
        for call in message.get("tool_calls") or []:
            if len(call["id"]) > _CHAT_ID:
                yield f"shape at {place}: an id of more than {_CHAT_ID} characters"
    spoken = [each for each in messages if each["role"] in ("user", "assistant", "tool")]
    for one, other in pairwise(spoken):
        if one["role"] == other["role"] == "assistant":
            yield "order: two messages of the assistant in a row"


def _responses(_: Fields, items: Sequence[Fields], sealed: Mapping[str, str]) -> Iterator[str]:
    for place, (item, after) in enumerate(pairwise([*items, {}])):
        kind = item.get("type", "message")
        start = _ITEM_IDS.get(kind, "")
        if not (item.get("id") or start).startswith(start):
            yield f"shape at {place}: the id of a {kind} begins with {start}"
        if len(item.get("call_id") or "") > _RESPONSES_ID:
            yield f"shape at {place}: an id of more than {_RESPONSES_ID} characters"
        if kind == "reasoning":
            said = "".join(each["text"] for each in item["summary"])
            if sealed.get(item["encrypted_content"]) != said:
                yield f"seal at {place}: not what was thought"
            number = str(item["id"]).partition("_")[2]
            if str(after.get("id")).partition("_")[2] != number:
                yield f"order at {place}: reasoning without what it led to"


def _gemini(_: Fields, contents: Sequence[Fields], sealed: Mapping[str, str]) -> Iterator[str]:
    asked = max(
        (place for place, each in enumerate(contents) if _is_asked(each)), default=len(contents)
    )
    before = ""
    for place, content in enumerate(contents):
        calls = [each for each in content["parts"] if "functionCall" in each]
        if calls and before not in ("user", "function"):
            yield f"order at {place}: a call that follows neither the user nor a result"
        for part in content["parts"]:
            if part.get("thoughtSignature", "") not in {"", _UNSEALED, *sealed}:
                yield f"seal at {place}: not one of ours"
        if calls and place > asked and not calls[0].get("thoughtSignature"):
            yield f"seal at {place}: the first call of a step has none"
        is_result = any("functionResponse" in each for each in content["parts"])
        before = "function" if is_result else content["role"]


def _is_asked(content: Fields) -> bool:
    return content["role"] == "user" and any("text" in part for part in content["parts"])


_CHECKS = {"anthropic": _anthropic, "openai": _chat, "responses": _responses, "gemini": _gemini}
