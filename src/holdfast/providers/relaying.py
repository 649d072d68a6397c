"""A provider's stream, relayed: whatever the SDK sends or raises, in the words of the port."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol, cast

from holdfast.ports.model import Finished
from holdfast.providers.model_errors import Address, cut_off, raise_as_model_error

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from holdfast.ports.model import Delta

__all__ = ["StreamAssembly", "relayed"]


class StreamAssembly(Protocol):
    """Puts an answer together from the pieces of a stream."""

    def take(self, fields: Mapping[str, object], /) -> Iterable[Delta]:
        """Take a piece, and return what it lets a listener hear."""
        ...

    @property
    def is_whole(self) -> bool:
        """Say whether the end has come."""
        ...

    def answer(self) -> dict[str, object]:
        """Return the answer as the provider writes it without streaming."""
        ...


def relayed(
    begin: Callable[[ExitStack], Iterable[object]], whole: StreamAssembly, address: Address
) -> Generator[Delta]:
    """Yield an answer as it comes, then the whole of it.

    Args:
        begin: Begins the request; what it opens on the stack is closed at the end, or when the
            listener goes.
        whole: Puts the answer together.
        address: Who is asked, for errors.
    """
    try:
        with ExitStack() as stack:
            for piece in begin(stack):
                # A server may send anything, and the SDK does not check it.
                dump = getattr(piece, "model_dump", None)
                if callable(dump):
                    yield from whole.take(cast("Mapping[str, object]", dump(exclude_unset=True)))
    except Exception as error:  # noqa: BLE001 - the SDK lets its HTTP library's errors through
        raise_as_model_error(error, address)
    if not whole.is_whole:
        raise cut_off(address, "the stream ended in the middle")
    yield Finished(whole.answer())
