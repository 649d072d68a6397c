"""A list of messages as a program holds it: read in the dialect it is written in, and written back.

Such a list has nothing beside it. An Anthropic list that begins with a system message, which the
provider wants elsewhere, is read as if it stood there, and gets its message back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError
from holdfast.wire import DIALECTS, Body
from holdfast.wire.recognition import recognized

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.transcript import Transcript
    from holdfast.wire.fields import Wire

__all__ = ["AUTO", "MessageList", "check_format", "read_messages"]

AUTO = "auto"
"""The dialect is told by the messages."""
_PROMPT = frozenset({"role", "content"})


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


def read_messages(messages: Iterable[Wire], dialect: str = AUTO) -> MessageList:
    """Return messages with their dialect, which they tell unless it is named.

    Raises:
        ConfigError: when there is no dialect of that name.
        DecodeError: when no dialect could have written all messages; it names the one that does
            not fit.
    """
    check_format(dialect)
    found = list(messages)
    return MessageList(recognized(found) if dialect == AUTO else dialect, found)


def check_format(name: str) -> None:
    """Refuse what is neither the name of a dialect nor `auto`."""
    if name != AUTO and name not in DIALECTS:
        raise ConfigError(f"format is {name!r}; allowed: {', '.join((*DIALECTS, AUTO))}")
