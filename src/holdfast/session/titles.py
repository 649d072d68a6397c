"""A title for a conversation that nobody named, from what was said first."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.transcript import Role, is_user_word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.transcript import Message

__all__ = ["title_from"]

_ASKED = 3
"""How many messages with words are asked for a title."""
_LONGEST = 60
_TOO_SHORT = 8
"""A greeting says nothing about a conversation."""
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")
_DECORATION = "#*->•_`\"' \t"


def title_from(messages: Sequence[Message], own_words: Callable[[str], str] = str) -> str:
    """Return a short title from the first exchange, or nothing while it says too little.

    The user's first words are the best title. Where they are a greeting or a lone block of code,
    the words after them are asked.

    Args:
        messages: The conversation.
        own_words: Returns what a user said themselves of a text that a program expanded.
    """
    speakers = islice(filter(_speaks, messages), _ASKED)
    spoken = [own_words(each.text) if each.role is Role.USER else each.text for each in speakers]
    first = ""
    for text in spoken:
        title = _title_of(text)
        if len(title) >= _TOO_SHORT:
            return title
        first = first or title
    return first if len(spoken) > 1 else ""


def _speaks(message: Message) -> bool:
    return is_user_word(message) or (message.role is Role.ASSISTANT and bool(message.text.strip()))


def _title_of(text: str) -> str:
    prose = _FENCE.sub(" ", text)
    lines = (line.strip(_DECORATION) for line in prose.splitlines())
    line = " ".join(next((each for each in lines if any(map(str.isalnum, each))), "").split())
    if len(line) <= _LONGEST:
        return line.rstrip(".:")
    sentence = _SENTENCE.split(line)[0]
    if _TOO_SHORT <= len(sentence) <= _LONGEST:
        return sentence.rstrip(".:")
    cut = line[: _LONGEST - 1]
    words = cut.rpartition(" ")[0]
    return f"{words if len(words) > _LONGEST // 2 else cut}…"
