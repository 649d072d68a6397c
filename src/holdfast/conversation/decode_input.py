"""What callers hand in, as messages: texts, provider messages, answers of an SDK.

And the names that they call it by: those that methods had, and those that people guess.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from msgspec.structs import replace

from holdfast.errors import ConfigError, DecodeError
from holdfast.transcript import Media, Message, Opaque, Recalled, Role, Text, ToolResult
from holdfast.wire import DIALECTS, Body
from holdfast.wire.foreign_media import envelope_of
from holdfast.wire.message_list import AUTO, plain_messages, read_messages
from holdfast.wire.message_text import as_words
from holdfast.wire.recognition import recognized_dialect
from holdfast.wire.reply import Reply, read_reply

if TYPE_CHECKING:
    from holdfast.transcript import Transcript

    Content: TypeAlias = str | Sequence[Mapping[str, object]]
    """Words, or content parts as OpenAI or Anthropic write them."""


def check_dialect(name: str) -> str:
    """Return the name of a dialect, if there is one of that name."""
    if name not in DIALECTS:
        raise ConfigError(f"format is {name!r}; allowed: {', '.join(DIALECTS)}")
    return name


def decode_messages(messages: object, dialect: str = "") -> Transcript:
    """Return what a message, or a list of them, says that a provider's request could hold.

    The messages tell their dialect where it is not named.

    Raises:
        DecodeError: when one cannot be read, or several dialects are mixed; it names the message.
    """
    is_one = isinstance(messages, Mapping) or hasattr(messages, "model_dump")
    given = plain_messages(cast("object", [messages] if is_one else messages))
    return read_messages(map(_sent, given), dialect or AUTO).transcript


def spoken(role: Role, content: Content | Message) -> Transcript:
    """Return what somebody said, in whatever form it was handed in.

    Who said it is known, so that it is their words, also where they begin like a summary.
    """
    if isinstance(content, Message):
        return (content,)
    if isinstance(content, str):
        return (Message(role, (Text(content),)),)
    parts = _parts(content)
    dialect = recognized_dialect([{"role": "user", "content": parts}])
    decoded = DIALECTS[dialect].decode(Body([{"role": str(role), "content": parts}]))
    return tuple(map(as_words, decoded))


def with_recalled(said: Transcript, recalled: str) -> Transcript:
    """Return what a user said, with what memory says of it before the words."""
    first, *rest = said
    return (replace(first, parts=(Recalled(recalled), *first.parts)), *rest)


def id_of_call(call: object) -> str:
    """Return the id by which a call is answered; the call itself may be given, as SDKs have it.

    Raises:
        DecodeError: when there is none.
    """
    if isinstance(call, str):
        return call
    # The Responses API gives a call an id as an item too, which answers nothing.
    for name in ("call_id", "id"):
        if isinstance(call, Mapping):
            found = cast("Mapping[str, object]", call).get(name)
        else:
            found = getattr(call, name, None)
        if isinstance(found, str):
            return found
    problem = f"expected the id of a tool call, found {call!r:.80}"
    raise DecodeError("tool result", "call_id", f"{problem}; the model's answer has it: call.id")


def tool_answer(
    call_id: str, content: Content | Message, *, name: str = "", is_error: bool = False
) -> Message:
    """Return what a tool answered, as the message that answers one call."""
    if isinstance(content, Message):
        if not any(result.call_id == call_id for result in content.results):
            raise DecodeError("content", "content", f"the message does not answer call {call_id!r}")
        return content
    if isinstance(content, str):
        result = ToolResult(call_id, (Text(content),), is_error=is_error, name=name)
        return Message(Role.TOOL, (result,))
    bare = cast("Content", envelope_of(content).get("content", content))
    parts = tuple(part for message in spoken(Role.USER, bare) for part in message.parts)
    pieces = tuple(part for part in parts if isinstance(part, Text | Media | Opaque))
    result = ToolResult(call_id, pieces, is_error=is_error, name=name)
    return Message(Role.TOOL, (result,))


def reply_of(answer: object) -> Reply:
    """Return a model's answer: an SDK's object, its JSON, a message or bare words.

    Raises:
        DecodeError: when it is none of these.
    """
    if isinstance(answer, str):
        return Reply((Message(Role.ASSISTANT, (Text(answer),)),))
    if isinstance(answer, Message):
        return Reply((answer,))
    dump = getattr(answer, "model_dump", None)
    if callable(dump):
        answer = dump(mode="json", exclude_unset=True)
    if not isinstance(answer, Mapping):
        raise DecodeError("reply", "answer", f"{type(answer).__name__} is no model's answer")
    return read_reply(cast("Mapping[str, object]", answer))


def _parts(content: object) -> list[dict[str, object]]:
    """Return content parts, also those of an SDK, as JSON objects."""
    parts: object = content
    if isinstance(content, Iterable) and not isinstance(content, Mapping | bytes):
        held = {"role": "user", "content": list(cast("Iterable[object]", content))}
        parts = plain_messages([held])[0]["content"]
        if all(isinstance(part, dict) for part in cast("list[object]", parts)):
            return cast("list[dict[str, object]]", parts)
    if isinstance(content, Mapping) and "role" in content:
        advice = "add() takes whole messages"
    elif content is None:
        advice = "what says nothing is an empty text"
    else:
        advice = "write it as text, for example with json.dumps"
    problem = f"expected words or content parts, found {content!r:.80}; {advice}"
    raise DecodeError("content", "content", problem)


def _sent(message: Mapping[str, object]) -> dict[str, object]:
    """Return a message as a provider may get it: what a window shows is sent as it is."""
    envelope = envelope_of(message.get("content"))
    return {**message, "content": envelope["content"]} if envelope else dict(message)


FORMER = {
    "user": "add_user",
    "assistant": "add_assistant",
    "tool": "add_tool_result",
    "extend": "add",
    "record": "add_response",
    "system": "set_system",
    "window": "messages",
}
"""What each method of version 0.1 is called now."""
_GUESSES = {
    "append": "add",
    "ask": "call",
    "chat": "call",
    "complete": "call",
    "send": "call",
    "add_message": "add",
    "add_messages": "add",
    "add_assistant_message": "add_assistant",
    "add_user_message": "add_user",
    "add_system": "set_system",
    "add_tool": "add_tool_result",
    "fork": "branch",
    "history": "log",
    "to_openai": "messages()",
    "to_anthropic": 'body("anthropic"), which has `system` and `messages`',
    "to_gemini": 'body("gemini"), which has `system` and `messages`',
    "tokens": "status().tokens",
    "undo_compact": "undo_compaction",
}


def former_name(conversation: object, name: str) -> object:
    """Return a method by the name that it had in version 0.1, with a warning.

    Raises:
        AttributeError: when there is none; the message names what may be meant.
    """
    kind = type(conversation).__name__
    if name in FORMER:
        new = FORMER[name]
        warnings.warn(f"{kind}.{name} is now {new}", DeprecationWarning, stacklevel=3)
        method = getattr(conversation, new)
        if name != "extend":
            return method

        def extend(messages: object, dialect: str = "", **named: str) -> object:
            # The format had another keyword then.
            return method(messages, **{"format": dialect, **named})

        return extend
    meant = _GUESSES.get(name)
    if meant is None:
        public = [each for each in dir(type(conversation)) if not each.startswith("_")]
        close = difflib.get_close_matches(name, [*public, *_GUESSES], 1)
        meant = _GUESSES.get(close[0], close[0]) if close else None
    hint = f"; use {meant}" if meant else ""
    raise AttributeError(f"{kind} has no attribute {name!r}{hint}")
