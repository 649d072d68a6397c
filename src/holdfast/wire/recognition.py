"""Tells which provider's dialect a list of messages is written in.

Dialects share much of their vocabulary. What only some of them know is a sign, and the signs of all
messages together leave the dialects that the list can be. A list that no dialect could have
written is mixed; the verdict then names the message and what it cannot stand beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from holdfast.errors import DecodeError
from holdfast.wire.common import Wire, known_string, records
from holdfast.wire.responses import ACTIONS, OUTPUTS
from holdfast.wire.sharegpt import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SURE, _LIKELY, _HINT = 3, 2, 1
"""Nobody else writes this; others may carry it, as an image; most who write this are it."""

_OPENAI = frozenset(["openai"])
_RESPONSES = frozenset(["responses"])
_ANTHROPIC = frozenset(["anthropic"])
_GEMINI = frozenset(["gemini"])
_SHAREGPT = frozenset(["sharegpt"])
_BOTH_OPENAI = _OPENAI | _RESPONSES
_WITH_CONTENT = _BOTH_OPENAI | _ANTHROPIC | _SHAREGPT
_ORDER = ("openai", "anthropic", "responses", "gemini", "sharegpt")
_TITLES = {
    "openai": "OpenAI chat",
    "responses": "OpenAI Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "sharegpt": "ShareGPT",
}
_ITEMS = frozenset(
    [
        *ACTIONS,
        *OUTPUTS,
        "code_interpreter_call",
        "compaction",
        "custom_tool_call",
        "file_search_call",
        "function_call",
        "image_generation_call",
        "item_reference",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "reasoning",
        "web_search_call",
    ]
)
_BLOCKS = {
    "file": (_OPENAI, _LIKELY),
    "image_url": (_OPENAI, _LIKELY),
    "input_audio": (_BOTH_OPENAI, _LIKELY),
    "refusal": (_BOTH_OPENAI, _LIKELY),
    "input_file": (_RESPONSES, _LIKELY),
    "input_image": (_RESPONSES, _LIKELY),
    "input_text": (_RESPONSES, _SURE),
    "output_text": (_RESPONSES, _SURE),
    "compaction": (_ANTHROPIC, _SURE),
    "container_upload": (_ANTHROPIC, _SURE),
    "document": (_ANTHROPIC, _LIKELY),
    "image": (_ANTHROPIC, _LIKELY),
    "mcp_tool_use": (_ANTHROPIC, _SURE),
    "redacted_thinking": (_ANTHROPIC, _SURE),
    "search_result": (_ANTHROPIC, _SURE),
    "server_tool_use": (_ANTHROPIC, _SURE),
    "thinking": (_ANTHROPIC, _LIKELY),
    "tool_result": (_ANTHROPIC, _SURE),
    "tool_use": (_ANTHROPIC, _SURE),
}
"""What types of content parts say, and how surely.

Images and files are told apart by their type, and every codec reads those of the others: programs
hand the same image to whoever answers.
"""
_VALUED = frozenset(["reasoning", "text", "tool_call"])
_USUAL = frozenset(["role", "content", "name", "tool_call_id", "tool_calls"])
_SPEAKERS = frozenset([*ROLES, "developer", "model", "session_meta"])
"""Who speaks in any dialect, and what Hermes writes first; users and members have roles too."""


@dataclass(frozen=True, slots=True)
class DialectSign:
    """Something in a message that not every dialect writes."""

    dialects: frozenset[str]
    """Those that do."""
    what: str
    """What it is, with its article."""
    strength: int = _SURE

    def excludes(self, dialect: str) -> bool:
        """Say whether a message with this sign is surely not of a dialect."""
        return self.strength == _SURE and dialect not in self.dialects


_CONTENT = DialectSign(_WITH_CONTENT, "a message with `content`")
_WORDS = DialectSign(_OPENAI | _ANTHROPIC, "a `text` part")
_PROMPT = DialectSign(_OPENAI, "a system message at the beginning", _LIKELY)
_CACHED = DialectSign(_ANTHROPIC, "a `cache_control` field", _HINT)
_CALLS = DialectSign(_OPENAI, "a list of `tool_calls`")
_NO_CALLS = DialectSign(_OPENAI, "an empty list of `tool_calls`", _LIKELY)
_CALL = DialectSign(_OPENAI, "a `function_call` field")
_ANSWERED = DialectSign(_OPENAI, "a `tool_call_id`")
_TOOL = DialectSign(_OPENAI | _SHAREGPT, "a tool message")
_DEVELOPER = DialectSign(_BOTH_OPENAI, "a developer message")
_MODEL = DialectSign(_GEMINI, "a message of the role model", _LIKELY)
_ITEM = DialectSign(_RESPONSES, "an item of the type message", _LIKELY)
_SAID = DialectSign(_ANTHROPIC, "an answer with `text` blocks", _LIKELY)
_SIGNED = DialectSign(_ANTHROPIC, "a signed `thinking` block")
_TURN = DialectSign(_SHAREGPT, "a turn with `from` and `value`")
_VALUE = DialectSign(_SHAREGPT, "a part with `type` and `value`")
_PARTS = DialectSign(_GEMINI, "a message with `parts`")
_ANSWER = DialectSign(_RESPONSES, "a whole response")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which dialect messages are taken for, and why."""

    dialect: str
    """The best guess, also where no dialect fits."""
    reason: str
    confidence: float
    """As that of a `Guess`: low where nothing but the shape speaks for it."""
    index: int | None = None
    """The message that does not fit the others; None where one dialect fits all of them."""

    @property
    def told(self) -> str:
        """Return the reason, with the message that it is about."""
        return self.reason if self.index is None else f"messages[{self.index}]: {self.reason}"


def is_message(value: object) -> bool:
    """Say whether a JSON value has the shape of a message in any dialect."""
    entry = _entry(value)
    if role := known_string(entry, "role"):
        is_known = "content" in entry and role in _SPEAKERS
        return is_known or "parts" in entry or "tool_calls" in entry
    if "from" in entry:
        return isinstance(entry.get("value"), str) and known_string(entry, "from") in _SPEAKERS
    return known_string(entry, "type") in _ITEMS or is_answer(entry)


def is_answer(entry: Mapping[str, object]) -> bool:
    """Say whether an entry is a whole answer of the Responses API, which some loops keep."""
    return entry.get("object") == "response" and isinstance(entry.get("output"), list)


def recognized_dialect(messages: Sequence[object]) -> str:
    """Return the dialect of the messages.

    Raises:
        DecodeError: when no dialect could have written them all; it names the message that does
            not fit, and why.
    """
    return agreed(dialect_of(messages))


def agreed(verdict: Verdict, option: str = "format=") -> str:
    """Return the dialect of a verdict in which all messages agree.

    Args:
        verdict: What was found.
        option: How the caller may name a dialect, for the error; nothing where it cannot.

    Raises:
        DecodeError: when they do not; it names the message that does not fit, and why.
    """
    if verdict.index is None:
        return verdict.dialect
    advice = f"write them in one dialect, or name the one they are to be read in with {option}"
    raise DecodeError("mixed dialects", f"messages[{verdict.index}]", f"{verdict.reason}; {advice}")


def dialect_of(messages: Sequence[object], *, has_system: bool = False) -> Verdict:
    """Return the dialect that the messages speak, and why they were taken for that.

    Args:
        messages: JSON values; what is no message says nothing.
        has_system: Whether a system prompt stands beside them, as Anthropic's does.
    """
    signs = signs_in(messages)
    if has_system:
        # Whoever has a place for the prompt beside the messages does not need the role.
        signs.pop(_PROMPT, None)
        signs[DialectSign(_ANTHROPIC, "a system prompt beside the messages", _LIKELY)] = 0
    elif not messages:
        return Verdict("openai", "there is no message in it", 0.2)
    return verdict_on(signs)


def signs_in(messages: Sequence[object], start: int = 0) -> dict[DialectSign, int]:
    """Return the signs in messages, each with the index of the first message that has it.

    Args:
        messages: JSON values.
        start: The index of the first of them, where they are the end of a longer list.
    """
    found: dict[DialectSign, int] = {}
    looked_at: set[object] = set()
    for index, message in enumerate(messages, start):
        entry = _entry(message)
        content = entry.get("content")
        if (content is None or isinstance(content, str)) and _USUAL.issuperset(entry):
            # Most messages are like many before them, and a list may have thousands.
            calls = entry.get("tool_calls", 0)
            role, answers = entry.get("role"), "tool_call_id" in entry
            named = role if isinstance(role, str) else ""
            alike = named, answers, index == 0, calls.__class__, not calls, content is None
            if alike in looked_at:
                continue
            looked_at.add(alike)
        for sign in _signs(entry, is_first=index == 0):
            found.setdefault(sign, index)
    return found


def verdict_on(signs: Mapping[DialectSign, int]) -> Verdict:
    """Return what the signs in a list say of its dialect.

    Sure signs have to agree. Likely ones decide among what they leave; where they disagree and
    OpenAI chat is among them, it is OpenAI chat, whose lists carry the parts of other dialects
    most often. Without a sign it is OpenAI chat too.
    """
    possible = frozenset(_ORDER)
    telling: DialectSign | None = None
    for strength in (_SURE, _LIKELY, _HINT):
        here = [sign for sign in signs if sign.strength == strength and sign.dialects & possible]
        common = possible.intersection(*(sign.dialects for sign in here))
        if not common and strength != _SURE and any("openai" in sign.dialects for sign in here):
            common = _OPENAI
        if not common and strength != _HINT:
            return _conflict({sign: signs[sign] for sign in here})
        # That a message has content, or a part of it text, tells no more than its shape.
        telling = telling or next(
            (sign for sign in here if common <= sign.dialects and sign not in (_CONTENT, _WORDS)),
            None,
        )
        possible = common or possible
    dialect = next(each for each in _ORDER if each in possible)
    if telling is None:
        return Verdict(dialect, "messages with a role and text", 0.5)
    return Verdict(dialect, f"there is {telling.what}", 0.8)


def _conflict(signs: Mapping[DialectSign, int]) -> Verdict:
    """Return the verdict on signs of which two exclude each other."""
    ordered = sorted(signs, key=lambda sign: signs[sign])
    one, other = next(
        (one, other)
        for at, other in enumerate(ordered)
        for one in ordered[:at]
        if not one.dialects & other.dialects
    )
    where = "it" if signs[one] == signs[other] else f"messages[{signs[one]}]"
    reason = f"it has {other.what}, as {_known_to(other)}, and {where} has {one.what}"
    dialect = next(each for each in _ORDER if each in one.dialects)
    return Verdict(dialect, f"{reason}, as {_known_to(one)}", 0.2, signs[other])


def _known_to(sign: DialectSign) -> str:
    titles = [_TITLES[each] for each in _ORDER if each in sign.dialects]
    return f"{' or '.join(titles)} writes it"


def _signs(entry: Wire, *, is_first: bool) -> Iterator[DialectSign]:
    role, kind, content = known_string(entry, "role"), entry.get("type"), entry.get("content")
    if "from" in entry and "value" in entry:
        yield _TURN
        return
    if isinstance(entry.get("parts"), list) and content is None:
        yield _PARTS
        return
    if not role:
        if is_answer(entry):
            yield _ANSWER
        elif isinstance(kind, str):
            strength = _SURE if kind in _ITEMS else _LIKELY
            yield DialectSign(_RESPONSES, f"an item of the type {kind}", strength)
        return
    if content is not None:
        yield _CONTENT
    yield from _signs_of_role(entry, role, is_first=is_first and kind != "message")
    if isinstance(content, str):
        if kind == "message":
            yield _ITEM
        return
    if "cache_control" in entry:
        yield _CACHED
    blocks = records(content)
    if kind == "message":
        # Anthropic's answers carry this type too.
        yield _SAID if any(block.get("type") == "text" for block in blocks) else _ITEM
    for block in blocks:
        yield from _signs_of_block(block)


def _signs_of_role(entry: Wire, role: str, *, is_first: bool) -> Iterator[DialectSign]:
    calls = entry.get("tool_calls")
    if isinstance(calls, list):
        yield _CALLS if calls else _NO_CALLS
    if isinstance(entry.get("function_call"), dict):
        yield _CALL
    if "tool_call_id" in entry:
        yield _ANSWERED
    match role:
        case "tool" | "function":
            yield _TOOL
        case "developer":
            yield _DEVELOPER
        case "system" if is_first:
            # Later ones say nothing: Claude Code sends them too.
            yield _PROMPT
        case "model":
            yield _MODEL
        case _:
            pass


def _signs_of_block(block: Wire) -> Iterator[DialectSign]:
    kind = known_string(block, "type")
    if kind in _VALUED and "value" in block:
        yield _VALUE
    elif kind == "text":
        yield _WORDS
    elif kind == "thinking" and isinstance(block.get("signature"), str):
        yield _SIGNED
    elif isinstance(block.get("thinking"), list) or (kind == "image" and "source" not in block):
        # Others have parts of the same name: Mistral's thinking, and MCP's images.
        pass
    elif kind in _BLOCKS:
        dialects, strength = _BLOCKS[kind]
        yield DialectSign(dialects, f"a part of the type {kind}", strength)
    elif kind.endswith("_tool_result"):
        yield DialectSign(_ANTHROPIC, f"a part of the type {kind}")
    if "cache_control" in block:
        yield _CACHED


def _entry(value: object) -> Wire:
    return cast("Wire", value) if isinstance(value, dict) else {}
