"""What users said that holds beyond its turn, found in what they said.

In a small window a few turns of talk fill every quote there is room for. What a user said of
themselves, of names and places and of what must be goes before them, and is carried on from one
checkpoint to the next.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from holdfast.summary.brief import user_words
from holdfast.summary.claims import LASTS, claim, worded_claim
from holdfast.summary.cues import is_acknowledgement, is_question, sentences
from holdfast.summary.updating import SAID_AFTER
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.transcript import Message

__all__ = ["Lasting", "lasting_words", "own_words", "statements"]

_FRONT, _BACK = 4_000, 2_000
"""What is read of a long message: people write before or after what they paste."""
_PASTED = 1_500
"""Characters from which on a message may be pasted: the names in it are nobody's statement."""
_WIDEST = 300
_SHORT = 320
_MOST = 8
"""Statements of one message: a pasted manual is no list of what a user wants."""
_CONFIRMED_LENGTH = 90
_OPENING, _OF_OPENING = 14, 3
"""So many statements open a conversation, and so much stronger is their claim.

People say who they are and what they want when they begin, in words that no list of cues has.
"""
_BRIEF = 200

# What looks like the end of a sentence and is a title, an initial or a day.
_GOES_ON = re.compile(
    r"(?:(?<![\d.:])\b\d{1,2}|\b[A-Z]|\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Sr|Sra|Dra|Hr|Fr|Mme|vs|ca"
    r"|Inc|Ltd|Jr|e\.g|i\.e|z\.B|bzw))\.$"
)
_CONFIRMS = re.compile(
    r"^\W*(?:(?:yes|yep|yeah|ok|okay)\b\W*)?(?:(?:that'?s|that is|this is|all|quite) )?"
    r"(?:yes|right|correct|exactly|true|precisely|confirmed|remember|genau|richtig|stimmt|korrekt"
    r"|ja|sí|exacto|correcto|así es|oui|exact|c'est ça|sim|exato|esatto|да|верно|точно|именно)\b"
    r"|^\W*(?:是的|对|没错|正确|はい|そうです|その通り|네|맞아)",
    re.IGNORECASE,
)
# A yes to one of these allows something to be done, and that was for then.
_PROPOSES = re.compile(
    r"\b(?:i(?:'ll| will| can| could| would| am going| plan)|i'd|let me|let's|shall|should|we could"
    r"|ich (?:werde|würde|kann|könnte)|soll|je (?:vais|peux)|voy a|puedo|vou|posso|могу|давай)\b"
    r"|我(?:会|将|可以|要)|しましょう|할까",
    re.IGNORECASE,
)


class Lasting(NamedTuple):
    """Words that outlast their turn, and how strong their claim is."""

    words: str
    strength: int


def lasting_words(
    older: Sequence[Message], carried: Sequence[str], newer: Sequence[Message]
) -> tuple[Lasting, ...]:
    """Return what users said that lasts, oldest first.

    Args:
        older: Turns from before what is carried.
        carried: What lasted until now, from the checkpoint before, oldest first.
        newer: Turns from after it.
    """
    known = [*_stated(older, _OPENING), *(Lasting(words, _claim_of(words)) for words in carried)]
    found = (*known, *_stated(newer, _OPENING - len(known)))
    return tuple(
        each._replace(strength=each.strength + _OF_OPENING) if place < _OPENING else each
        for place, each in enumerate(found)
    )


def _stated(messages: Sequence[Message], opening: int) -> Iterator[Lasting]:
    """Yield what lasts of the messages; while a conversation opens, every brief statement does."""
    replies: list[Message] = []
    for message in messages:
        if message.role is Role.ASSISTANT:
            replies.append(message)
            continue
        if message.role is not Role.USER:
            continue
        for words in user_words((message,)):
            found = (*_confirmed(words, replies), *_lasting_in(words))
            if not found and opening > 0 and _is_statement(words):
                found = (Lasting(words.strip(), 0),)
            opening -= len(found)
            yield from found
            replies = []


def _is_statement(words: str) -> bool:
    return len(words) <= _BRIEF and not is_question(words) and not is_acknowledgement(words)


def _claim_of(quote: str) -> int:
    """Return the claim of words that last already; those of a note count like a user's own."""
    return max(map(claim, _parts(quote)), default=0)


def _lasting_in(words: str) -> tuple[Lasting, ...]:
    """Return what lasts of one message, in the order in which it was said.

    Statements in a row stay together, and a short message that is mostly such is quoted whole.
    """
    parts = [(part, _claim_in(words, part)) for part in _parts(_ends(words))]
    stated = [strength for _, strength in parts if strength >= LASTS]
    if not stated:
        return ()
    asks = any(is_question(part) for part, _ in parts)
    if len(words) <= _SHORT and 2 * len(stated) >= len(parts) and not asks:
        return (Lasting(words.strip(), max(stated)),)
    return tuple(_runs(parts))[:_MOST]


def own_words(quote: str) -> str:
    """Return what the user said of a quote, without the note of what it was said to."""
    return quote.partition(f"\n{SAID_AFTER}")[0]


def statements(quote: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Yield the statements of a quote that fit one by one, for where the whole does not.

    A confirmation says nothing without its note, so it is not taken apart. Whether a statement
    fits is asked first: hardly any does where many are left, and to weigh a claim costs more.
    """
    if f"\n{SAID_AFTER}" not in quote:
        for part in _parts(quote):
            if part != quote and fits(part) and claim(part) >= LASTS:
                yield part


def _runs(parts: Sequence[tuple[str, int]]) -> Iterator[Lasting]:
    for lasts, run in groupby(parts, key=lambda each: each[1] >= LASTS):
        if not lasts:
            continue
        group = list(run)
        whole = " ".join(part for part, _ in group)
        if len(whole) <= _WIDEST:
            yield Lasting(whole, max(strength for _, strength in group))
        else:
            yield from (Lasting(part, strength) for part, strength in group)


def _claim_in(words: str, part: str) -> int:
    if len(part) > _WIDEST:
        return 0
    return claim(part) if len(words) <= _PASTED else worded_claim(part)


def _ends(words: str) -> str:
    if len(words) <= _FRONT + _BACK:
        return words
    return f"{words[:_FRONT]}\n{words[-_BACK:]}"


def _parts(words: str) -> list[str]:
    """Return the sentences of a text; an abbreviation does not end one."""
    parts: list[str] = []
    for part in sentences(words):
        if parts and _GOES_ON.search(parts[-1]) and f"{parts[-1]} {part}" in words:
            parts[-1] = f"{parts[-1]} {part}"
        else:
            parts.append(part)
    return parts


def _confirmed(words: str, replies: Sequence[Message]) -> Iterator[Lasting]:
    """Yield the user's confirmation of what the assistant stated, with the statement in a note.

    A yes to a question or to a proposal is none: what it allowed must not be allowed again later.
    """
    if not replies or len(words) > _CONFIRMED_LENGTH or not _CONFIRMS.search(words):
        return
    before = next(filter(None, (message.text for message in reversed(replies))), "")
    if not before or is_question(before) or is_question(words) or _PROPOSES.search(before):
        return
    stated = [part for part in _parts(_ends(before)) if claim(part) >= LASTS]
    note = " ".join(stated)
    if stated and len(note) <= _WIDEST:
        strength = max(map(claim, stated))
        yield Lasting(f"{words.strip()}\n{SAID_AFTER} the assistant wrote: {note})", strength)
