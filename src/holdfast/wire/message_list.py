"""A list of messages as a program holds it: read in the dialect it is written in, and written back.

Its messages are JSON objects, or what an SDK returned, whole or in the content of a message.

Such a list has nothing beside it. An Anthropic list that begins with a system message, which the
provider wants elsewhere, is read as if it stood there, and gets its message back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import is_not
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from holdfast.errors import ConfigError, DecodeError
from holdfast.wire import DIALECTS, Body
from holdfast.wire.common import Wire, kind_in_words
from holdfast.wire.recognition import recognized_dialect

if TYPE_CHECKING:
    from holdfast.transcript import Transcript

AUTO = "auto"
"""The dialect is told by the messages."""
_PROMPT = frozenset({"role", "content"})
_PLAIN = frozenset({"role", "content", "name", "tool_call_id", "tool_calls"})
_MARKS = frozenset({"role", "type", "parts", "from"})
"""What every message has one of, in one dialect or another."""
_EXAMPLE = "a message is an object such as {'role': 'user', 'content': 'hello'}"
_HOLDERS = frozenset({"content", "tool_calls", "parts", "output"})
"""Where in a message programs put objects of an SDK."""
# A union in the call would be made anew for each field of each message.
_SEQUENCES = (list, tuple)
_REQUESTS = ("messages", "input", "contents", "conversations")
_ANSWERS = {
    "choices": "append its message, answer.choices[0].message",
    "candidates": "append its content, answer.candidates[0].content",
    "output": "add its items, answer.output",
}
"""What is meant, by the field that a whole answer of a provider has."""


class SdkObject(Protocol):
    """A message or a part of one, as the SDKs of providers return them."""

    def model_dump(self) -> Mapping[str, object]:
        """Return the object as JSON."""
        ...


Given: TypeAlias = Mapping[str, object] | SdkObject
"""What a message may be in a list that a caller hands in."""


@dataclass(frozen=True, slots=True)
class MessageList:
    """Messages, and the dialect that they are written in."""

    dialect: str
    messages: list[Wire]

    @property
    def body(self) -> Body:
        """Return the messages as a provider gets them."""
        first = self.messages[0] if self.messages else {}
        if (
            self.dialect == "anthropic"
            and first.get("role") == "system"
            and first.keys() == _PROMPT
            and first["content"] is not None
        ):
            return Body(self.messages[1:], first["content"])
        return Body(self.messages)

    @property
    def transcript(self) -> Transcript:
        """Return what the messages say.

        Raises:
            DecodeError: when a message cannot be read, with its place.
        """
        return DIALECTS[self.dialect].decode(self.body)

    def written(self, body: Body) -> list[Wire]:
        """Return a body of the same dialect as a list, with nothing beside it."""
        if body.system is None:
            return body.messages
        return [{"role": "system", "content": body.system}, *body.messages]


def read_messages(messages: Iterable[Given], dialect: str = AUTO) -> MessageList:
    """Return messages with their dialect, which they tell unless it is named.

    Raises:
        ConfigError: when there is no dialect of that name.
        DecodeError: when they are no list of messages, or no dialect could have written them
            all; it names the message that does not fit.
    """
    check_format(dialect)
    found = plain_messages(messages)
    return MessageList(recognized_dialect(found) if dialect == AUTO else dialect, found)


def check_format(name: str) -> None:
    """Refuse what is neither the name of a dialect nor `auto`."""
    if name != AUTO and name not in DIALECTS:
        raise ConfigError(f"format is {name!r}; allowed: {', '.join((*DIALECTS, AUTO))}")


def plain_messages(messages: object, start: int = 0) -> list[Wire]:
    """Return messages as JSON objects: those that are, as they are; those of an SDK, dumped.

    Args:
        messages: What a caller handed in.
        start: The index of the first of them, where they are the end of a longer list.

    Raises:
        DecodeError: when they are no list of messages; it says what to hand in.
    """
    whole = _opened(messages)
    if isinstance(whole, Mapping):
        raise DecodeError("input", "messages", _not_a_list(cast("Mapping[str, object]", whole)))
    if isinstance(whole, str | bytes) or not isinstance(whole, Iterable):
        problem = f"expected a list of messages, found {kind_in_words(whole)}; {_EXAMPLE}"
        raise DecodeError("input", "messages", problem)
    each = enumerate(cast("Iterable[object]", whole), start)
    return [_message(value, index) for index, value in each]


def _not_a_list(value: Mapping[str, object]) -> str:
    found = "expected a list of messages, found"
    if name := _request_in(value):
        return f"{found} a request; hand in its messages, request[{name!r}]"
    if answer := _answer_in(value):
        return f"{found} a provider's answer; {answer}"
    if "role" in value or "parts" in value or "from" in value:
        return f"{found} one message; put it into a list: [message]"
    return f"{found} an object"


def _request_in(value: Mapping[str, object]) -> str:
    is_request = "role" not in value and "type" not in value
    names = (name for name in _REQUESTS if is_request and isinstance(value.get(name), list))
    return next(names, "")


def _answer_in(value: Mapping[str, object]) -> str:
    is_answer = "role" not in value and "type" not in value
    names = (name for name in _ANSWERS if is_answer and isinstance(value.get(name), list))
    return next((_ANSWERS[name] for name in names), "")


def _message(value: object, index: int) -> Wire:
    if isinstance(value, dict) and _is_plain(cast("Wire", value)):
        return cast("Wire", value)
    message = _opened(cast("object", value))
    where = f"messages[{index}]"
    if not isinstance(message, dict):
        wanted = "a message is a dict, or an object of an SDK that has model_dump()"
        problem = f"expected a message, found {kind_in_words(message)}; {wanted}"
        raise DecodeError("input", where, problem)
    found = cast("Wire", message)
    if "role" in found and message is value:
        return found
    if answer := _answer_in(found):
        raise DecodeError("input", where, f"this is a provider's whole answer; {answer} instead")
    if name := _request_in(found):
        problem = f"this is a request; hand in its messages, request[{name!r}]"
        raise DecodeError("input", where, problem)
    if _MARKS.isdisjoint(found):
        problem = f"expected a message, found an object without a role; {_EXAMPLE}"
        raise DecodeError("input", where, problem)
    if message is value or isinstance(value, Mapping):
        return found
    # A message that was returned says more than one that is sent back may say.
    if found.get("type") == "message" and "model" in found:
        return {"role": found.get("role"), "content": found.get("content")}
    if "role" in found and "content" not in found and "parts" not in found:
        return {**found, "content": None}
    return found


def _is_plain(message: Wire) -> bool:
    """Say whether a message is words and calls as JSON, as most are, so that nothing is opened."""
    content = message.get("content")
    if not (isinstance(content, str) or content is None) or not _PLAIN.issuperset(message):
        return False
    calls = message.get("tool_calls")
    if calls is None:
        return content is not None or "role" in message
    return (
        "role" in message
        and type(calls) is list
        and all([type(call) is dict and _HOLDERS.isdisjoint(call) for call in calls])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    )


def _opened(value: object) -> object:
    """Return a value with the objects of SDKs in it as JSON; the same one where there are none."""
    if isinstance(value, dict):
        return _opened_fields(cast("Wire", value))
    if isinstance(value, Mapping):
        return _opened_fields(dict(cast("Mapping[str, object]", value)))
    dump = getattr(value, "model_dump", None)
    if not callable(dump):
        return value
    try:
        return dump(mode="json", exclude_none=True)
    except TypeError:
        # Some objects have the method, and not all that pydantic's takes.
        return dump()


def _opened_fields(message: Wire) -> Wire:
    opened: Wire = {}
    for name in _HOLDERS:
        held = message.get(name)
        if isinstance(held, _SEQUENCES):
            values = cast("list[object] | tuple[object, ...]", held)
            plain = [_opened(each) for each in values]
            if isinstance(held, tuple) or any(map(is_not, plain, values)):
                opened[name] = plain
    return {**message, **opened} if opened else message
