"""A caller's step inside a transaction: its errors reach the caller as they are."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["LastStep"]


class LastStep:
    """Calls what the caller gave, and remembers what it raised.

    A caller may use a database of its own; its errors must not be taken for ours.
    """

    def __init__(self, call: Callable[[], None] | None) -> None:
        self._call = call
        self._raised: BaseException | None = None

    def __call__(self) -> None:
        """Take the step."""
        if self._call is None:
            return
        try:
            self._call()
        except BaseException as error:
            self._raised = error
            raise

    @contextmanager
    def as_it_was(self) -> Generator[None]:
        """Raise what the step raised in place of a sentence about the store."""
        try:
            yield
        except StoreError as error:
            if self._raised is not None and error is not self._raised:
                raise self._raised from None
            raise
