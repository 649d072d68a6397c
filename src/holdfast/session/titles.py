"""A title for a conversation that nobody named, from what was said first."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.transcript import Role, is_user_word
from holdfast.transcript.blocks import words_typed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.transcript import Message

_ASKED = 3
"""How many messages with words are asked for a title."""
_LONGEST = 60
_TOO_SHORT = 8
"""A greeting says nothing about a conversation."""
_FENCED = "```"
_FENCE = re.compile(rf"{_FENCED}.*?(?:{_FENCED}|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")
_DECORATION = "#*->•_`\"' \t"
_TAGS = re.compile(r"\A\s*(?:</?[a-z][\w:-]{0,40}>\s*)+", re.IGNORECASE)
_BARE_COMMAND = re.compile(r"/\S+")


def title_from(messages: Sequence[Message], own_words: Callable[[str], str] = str) -> str:
    """Return a short title from the first exchange, or nothing while it says too little.

    The user's first words are the best title. Where they are a greeting, a command or a lone block
    of code, the words after them are asked. What agents say in a user's name is never asked.

    Args:
        messages: The conversation.
        own_words: Returns what a user said themselves of a text that a program expanded.
    """
    words = (_words(each, own_words) for each in messages)
    first, spoken = "", 0
    for text in islice(filter(None, words), _ASKED):
        title = _title_of(text)
        if len(title) >= _TOO_SHORT and not _BARE_COMMAND.fullmatch(title):
            return title
        first = first or title
        spoken += 1
    return first if spoken > 1 else ""


def short_title(text: str) -> str:
    """Return a title on one line of at most 60 characters, whoever gave it."""
    line = " ".join(text.split())
    if len(line) <= _LONGEST:
        return line
    cut = line[: _LONGEST - 1]
    words = cut.rpartition(" ")[0]
    return f"{words if len(words) > _LONGEST // 2 else cut}…"


def _words(message: Message, own_words: Callable[[str], str]) -> str:
    if message.role is Role.ASSISTANT:
        return message.text.strip()
    return words_typed(own_words(message.text)) if is_user_word(message) else ""


def _title_of(text: str) -> str:
    prose = _FENCE.sub(" ", text) if _FENCED in text else text
    line = " ".join(_telling_line(prose).split())
    sentence = _SENTENCE.split(line)[0]
    if len(line) > _LONGEST and _TOO_SHORT <= len(sentence) <= _LONGEST:
        line = sentence
    return short_title(line.rstrip(".:") if len(line) <= _LONGEST else line)


def _telling_line(prose: str) -> str:
    """Return the first line that says something; one that announces a heading says less than it."""
    lines = (_TAGS.sub("", line) for line in prose.splitlines())
    telling = ((line, line.strip(_DECORATION)) for line in lines)
    found = list(islice((each for each in telling if any(map(str.isalnum, each[1]))), 2))
    if len(found) > 1 and found[0][1].endswith(":") and found[1][0].lstrip().startswith("#"):
        return found[1][1]
    return found[0][1] if found else ""
