"""What a codec reads and writes: the conversation inside a provider's request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.transcript import Transcript, Violation

__all__ = ["Body", "Codec", "Dialect"]


@dataclass(frozen=True, slots=True)
class Body:
    """The conversation of a request, without its model, tools and settings."""

    messages: list[dict[str, object]]
    """What the provider calls messages, input, contents or conversations."""
    system: object | None = None
    """What stands beside them: system, instructions or systemInstruction."""


class Dialect(Protocol):
    """One provider's way to write a conversation, with its rules."""

    @property
    def name(self) -> str:
        """Return the name under which the dialect is known."""
        ...

    @property
    def decode(self) -> Callable[[Body], Transcript]:
        """Return the function that reads a body; what it cannot read raises `DecodeError`."""
        ...

    @property
    def encode(self) -> Callable[[Transcript], Body]:
        """Return the function that writes a transcript in the provider's way."""
        ...

    @property
    def validate(self) -> Callable[[Body], tuple[Violation, ...]]:
        """Return the function that names what the provider would refuse."""
        ...


@dataclass(frozen=True, slots=True)
class Codec:
    """A dialect made of three functions."""

    name: str
    decode: Callable[[Body], Transcript]
    encode: Callable[[Transcript], Body]
    validate: Callable[[Body], tuple[Violation, ...]]
