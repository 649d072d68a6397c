"""What each policy leaves of a conversation, as text of at most so many characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from math import fsum, log
from typing import TYPE_CHECKING, TypeAlias

from bench.talk.words import content, names, sentences
from bench.windows import fitted, told, window_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Build: TypeAlias = Callable[["Sequence[dict[str, object]]", int], str]

TAIL = "plain tail"
OURS = "holdfast, no model"
NAMED = 2
"""What a word of a name or a number counts beside another word."""
PLEASANTRY = re.compile(
    r"(?:hi|hello|hey|thanks?|(?:you're (?:very )?)?welcome|okay|ok|sure|great|awesome|no problem"
    r"|sounds? (?:good|great|like)|of course|certainly|absolutely|i hope|i'm (?:glad|happy|sorry)"
    r"|have (?:a|fun)|good (?:luck|night|morning)|goodbye|bye|let me know|feel free)\b",
    re.IGNORECASE,
)
SHORT = 80
"""Characters up to which a sentence that begins like a pleasantry is nothing more."""


def plain_tail(messages: Sequence[dict[str, object]], size: int) -> str:
    return window_text(messages)[-size:]


def without_model(messages: Sequence[dict[str, object]], size: int) -> str:
    return window_text(fitted(messages, size))


def ranked(messages: Sequence[dict[str, object]], size: int) -> str:
    """Return the turns with most rare words, names and numbers for their length, as they stood.

    Questions and pleasantries are dropped from turns first.
    """
    turns = [window_text([{**message, "content": _stated(message)}]) for message in messages]
    words = [content(turn) for turn in turns]
    counts = Counter(word for each in words for word in each)
    rarity = {word: log(len(turns) / count) for word, count in counts.items()}
    scores = [_weight(*each, rarity) for each in zip(turns, words, strict=True)]
    kept: set[int] = set()
    room = size
    for at in sorted(range(len(turns)), key=lambda at: -scores[at]):
        if turns[at] and len(turns[at]) < room:
            kept.add(at)
            room -= len(turns[at]) + 1
    return "\n".join(turns[at] for at in sorted(kept))


def _weight(turn: str, words: frozenset[str], rarity: Mapping[str, float]) -> float:
    """Return the rarity of what a turn says, for each of its characters."""
    named = {word for each in sentences(turn) for name in names(each) for word in content(name)}
    counted = fsum(rarity[word] * (NAMED if word in named else 1) for word in words)
    return counted / max(len(turn), 1)


def _stated(message: Mapping[str, object]) -> str:
    return "\n".join(each for each in sentences(told(message)) if not _idle(each))


def _idle(sentence: str) -> bool:
    pleasant = PLEASANTRY.match(sentence) is not None and len(sentence) < SHORT
    return sentence.endswith("?") or pleasant


POLICIES: dict[str, Build] = {
    TAIL: plain_tail,
    "ranked turns": ranked,
    OURS: without_model,
}
