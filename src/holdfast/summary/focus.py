"""What the user cares about now, when nobody named a focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.summary.brief import user_words
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Message

__all__ = ["derive_focus"]

_WIDTH = 240
_ENOUGH = 40


def derive_focus(messages: Sequence[Message]) -> str:
    """Return a topic from the newest user turns, in the user's own words.

    A short turn such as "go on" says little, so the one before it is added.
    """
    topic = ""
    for words in reversed(user_words(messages)):
        topic = f"{topic} / {flat(words, _WIDTH)}" if topic else flat(words, _WIDTH)
        if len(topic) >= _ENOUGH:
            break
    return flat(topic, _WIDTH)
