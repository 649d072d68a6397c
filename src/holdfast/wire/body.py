"""What a codec reads and writes: the conversation inside a provider's request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.transcript import Transcript, Violation

__all__ = ["Body", "Codec", "Dialect", "SharedPrefix", "with_originals"]


class SharedPrefix:
    """A token that bodies of one growing conversation share.

    Of two bodies with the same token, as they were handed out, the longer one begins with the
    messages of the shorter one. Who works on each of them needs to look only at what is new.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Body:
    """The conversation of a request, without its model, tools and settings."""

    messages: list[dict[str, object]]
    """What the provider calls messages, input, contents or conversations."""
    system: object | None = None
    """What stands beside them: system, instructions or systemInstruction."""
    prefix: SharedPrefix | None = field(default=None, compare=False, repr=False)
    """What it shares with earlier bodies, while nobody changes it; None where nothing is known."""


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


def with_originals(
    written: Sequence[dict[str, object]], originals: Sequence[dict[str, object]]
) -> list[dict[str, object]]:
    """Return written messages with the caller's own objects wherever they say the same.

    A codec writes keys in its own order. What stays at the start and at the end of a
    conversation goes out as it came in, byte for byte, so that provider caches hold.
    """
    result = list(written)
    length = min(len(result), len(originals))
    same_start = next(
        (index for index in range(length) if result[index] != originals[index]), length
    )
    same_end = next(
        (index for index in range(length) if result[-1 - index] != originals[-1 - index]), length
    )
    result[:same_start] = originals[:same_start]
    if same_end:
        result[-same_end:] = originals[-same_end:]
    return result
