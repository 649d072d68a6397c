"""Keeps count of a growing list of messages, at a cost that follows what is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.tokens import Load, Scale, load_of
from holdfast.wire.message_list import AUTO, MessageList, check_format, plain_messages
from holdfast.wire.recognition import DialectSign, agreed, signs_in, verdict_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.wire.message_list import Given

__all__ = ["Meter"]


class Meter:
    """Measures the list that an agent resends with every call.

    Agents append to one list. As long as the last message seen is still where it was, only what
    follows it is decoded and weighed; otherwise everything is measured again. So it is when the
    new messages show that the list is of another dialect than its beginning seemed to be.
    """

    def __init__(self, scale: Scale) -> None:
        """Measure messages with this scale."""
        self._scale = scale
        self._load = Load()
        self._dialect = ""
        self._signs: dict[DialectSign, int] = {}
        self._seen = 0
        self._last: object = None

    def measure(self, messages: Sequence[Given], dialect: str = AUTO) -> Load:
        """Return the load of the messages, whose dialect they tell unless it is named."""
        known = self._seen
        if not (0 < known <= len(messages) and messages[known - 1] is self._last):
            known = 0
        fresh = plain_messages(messages[known:], known)
        check_format(dialect)
        signs = {**signs_in(fresh, known), **(self._signs if known else {})}
        spoken = agreed(verdict_on(signs)) if dialect == AUTO else dialect
        try:
            said = MessageList(spoken, fresh).transcript
        except DecodeError:
            if not known:
                raise
        else:
            if not known or spoken == self._dialect:
                load = load_of(said, self._scale)
                self._load = self._load + load if known else load
                self._scale.keep_only(())
                self._dialect, self._signs = spoken, signs
                self._seen = len(messages)
                self._last = messages[-1] if messages else None
                return self._load
        # Measured whole, an error says which message of the list it is.
        self.forget()
        return self.measure(messages, dialect)

    def forget(self) -> None:
        """Measure everything at the next call: the list was rewritten."""
        self._seen = 0
