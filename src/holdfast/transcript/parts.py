"""What messages are made of: parts, messages and transcripts as plain frozen values.

They are structs, which take a fifth of the time of frozen dataclasses to make. The garbage
collector does not track them (`gc=False`): a value is made of values that were there before it, so
no cycle leads through it. A changed copy comes from `msgspec.structs.replace`.

Passes over whole windows ask `type(part) is Text`. `isinstance` says so too, but takes ten times
as long where the part is of another kind, since structs have a class of their own as their class.

Identity, storage and wire layout live elsewhere. A value that came from a provider keeps what
this vocabulary does not know in `extras`, so that encoding it again loses nothing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias, final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

Extras: TypeAlias = "Mapping[str, object]"
"""Wire fields that the vocabulary does not know; never mutated after creation."""


class _NoExtras(dict[str, object]):
    """An empty mapping that hashes, so that what has it hashes too."""

    __hash__ = object.__hash__  # type: ignore[assignment]


NO_EXTRAS: Extras = _NoExtras()

Form: TypeAlias = Literal["", "string", "parts", "null", "absent"]
"""How content was written on the wire, where a dialect has several ways to say the same.

The empty form leaves the choice to the codec.
"""


class Role(StrEnum):
    """Who speaks. Provider names such as `developer`, `model` or `human` map onto these."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Synthetic(StrEnum):
    """Why holdfast itself wrote a message; only users speak for users."""

    SUMMARY = "summary"
    STUB = "stub"
    NOTE = "note"


@final
class Text(Struct, frozen=True, gc=False):
    """Words."""

    text: str
    extras: Extras = NO_EXTRAS


@final
class Thinking(Struct, frozen=True, gc=False):
    """A model's reasoning: kept byte for byte with its signature, or dropped whole."""

    text: str = ""
    signature: str | None = None
    """The provider's seal; also the payload of redacted or encrypted reasoning."""
    extras: Extras = NO_EXTRAS


@final
class ToolCall(Struct, frozen=True, gc=False):
    """A request to run a tool."""

    id: str
    name: str
    arguments: str = "{}"
    """The arguments as JSON text, exactly as the model wrote them when the wire carries text."""
    extras: Extras = NO_EXTRAS


@final
class Media(Struct, frozen=True, gc=False):
    """An image, a sound or a file."""

    kind: Literal["image", "audio", "video", "file"] = "image"
    media_type: str = ""
    data: str = ""
    """Base64 text, without the `data:` prefix; empty when the media is referred to."""
    url: str = ""
    """Where the media is, or the provider's file id."""
    extras: Extras = NO_EXTRAS


@final
class Opaque(Struct, frozen=True, gc=False):
    """A provider's own item, replayed as it is and never shown to another provider."""

    dialect: str
    value: Mapping[str, object]
    readable: str = ""
    """What a person or another model may know of it, where the provider says."""


Content: TypeAlias = Text | Media | Opaque
"""What a tool result may hold."""


@final
class ToolResult(Struct, frozen=True, gc=False):
    """What a tool answered."""

    call_id: str
    content: tuple[Content, ...] = ()
    is_error: bool = False
    name: str = ""
    form: Form = ""
    extras: Extras = NO_EXTRAS

    @property
    def text(self) -> str:
        """Return the words of the result, parts separated by a line break."""
        if len(self.content) == 1 and isinstance(self.content[0], Text):
            return self.content[0].text
        return "\n".join([part.text for part in self.content if isinstance(part, Text)])


@final
class Summary(Struct, frozen=True, gc=False):
    """The text that stands for folded messages.

    It is a kind of part, so that nothing recognizes it by its wording. Only the wire layer
    adds and reads back the prefix that tells a model what it is looking at.
    """

    text: str
    origin: str = "holdfast"
    """Which system wrote it, as far as that is known."""
    check: str = ""
    """What shows in a bare list that we wrote this text; empty where nothing does."""
    claimed: bool = False
    """Whether nothing but the text around it says that we wrote it: anybody can write that."""

    @property
    def is_ours(self) -> bool:
        """Say whether a compaction of ours wrote it, so that it may quote users."""
        return self.origin == "holdfast" and not self.claimed


@final
class Recalled(Struct, frozen=True, gc=False):
    """What memory says that bears on a user's message; it stands in it and is not the user's.

    It is a kind of part, so that it is never quoted, searched or remembered as the user's words.
    The wire layer writes it as a block that says what it is, and reads that back.
    """

    text: str


Part: TypeAlias = Text | Thinking | ToolCall | ToolResult | Media | Summary | Recalled | Opaque


@final
class Message(Struct, frozen=True, gc=False):
    """One speaker's contribution."""

    role: Role
    parts: tuple[Part, ...] = ()
    form: Form = ""
    synthetic: Synthetic | None = None
    pinned: bool = False
    extras: Extras = NO_EXTRAS

    @property
    def text(self) -> str:
        """Return the plain words of the message: text parts only, a blank line between them."""
        if len(self.parts) == 1:
            only = self.parts[0]
            return only.text if type(only) is Text else ""
        return "\n\n".join([part.text for part in self.parts if type(part) is Text])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the tool calls of the message, in order."""
        return tuple([part for part in self.parts if type(part) is ToolCall])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Return the tool results of the message, in order."""
        return tuple([part for part in self.parts if type(part) is ToolResult])

    @property
    def summary(self) -> Summary | None:
        """Return the summary part of the message, if it has one."""
        for part in self.parts:
            if type(part) is Summary:
                return part
        return None


Transcript: TypeAlias = tuple[Message, ...]
"""An immutable, ordered sequence of messages."""
