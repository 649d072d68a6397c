"""Between a typed transcript and what a plug-in reads and hands back.

A plug-in sees OpenAI messages. What it hands back is read again, and each message that it left
alone is the very one that was there before: signatures, pins and identity survive a format that
cannot say them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from holdfast.compaction.repair import repair
from holdfast.engines.provenance import attributed
from holdfast.errors import DecodeError
from holdfast.transcript import Message, Role, newest_user, open_calls
from holdfast.wire import DIALECTS, Body
from holdfast.wire.json_text import encodable
from holdfast.wire.recognition import signs_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from holdfast.engines.contract import Wire
    from holdfast.transcript import Transcript

__all__ = ["Fault", "Sheet", "as_handed", "faults", "read_back", "sheet_of"]

_OPENAI = DIALECTS["openai"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with what a plug-in handed back."""

    rule: str
    """A stable name: `shape`, `validity`, `newest-user`, `system`, `waiting` or `size`."""
    message: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A transcript as a plug-in reads it."""

    transcript: Transcript
    messages: Wire
    groups: tuple[tuple[str, ...], ...]
    """For each message of the transcript, how it reads; nothing where that cannot be told."""


def sheet_of(transcript: Transcript) -> Sheet:
    """Write a transcript for a plug-in, valid whatever happened to its calls."""
    whole = repair(transcript)
    written = encodable(_OPENAI.encode(whole).messages)
    groups = [encodable(_OPENAI.encode((message,)).messages) for message in whole]
    if [each for group in groups for each in group] != written:
        # Some dialects' messages cannot be written one by one; then nothing is recognized.
        return Sheet(whole, written, ())
    return Sheet(whole, written, tuple(tuple(map(_key, group)) for group in groups))


def read_back(sheet: Sheet, handed: object) -> Transcript:
    """Return what a plug-in handed back, with the messages that it left alone as they were.

    What it wrote in a user's name is a note.

    Raises:
        DecodeError: when it is no list of OpenAI messages.
    """
    return attributed(sheet.transcript, as_handed(sheet, handed))


def as_handed(sheet: Sheet, handed: object) -> Transcript:
    """Return what a plug-in handed back, with its own words as it wrote them.

    Raises:
        DecodeError: when it is no list of OpenAI messages.
    """
    messages = _messages(handed)
    pieces = _recognized(sheet, messages)
    _check_dialect(sheet, messages, pieces)
    return tuple(_decoded(pieces))


def faults(
    sheet: Sheet, after: Transcript, handed: Wire, weigh: Callable[[Iterable[Message]], int]
) -> Iterator[Fault]:
    """Yield what forbids the use of what a plug-in handed back."""
    before = sheet.transcript
    violations = _OPENAI.validate(Body(handed))
    if violations and not _OPENAI.validate(Body(sheet.messages)):
        yield Fault("validity", f"a provider would refuse it: {violations[0].message}")
    newest = newest_user(before)
    if newest is not None and not any(message is before[newest] for message in after):
        yield Fault("newest-user", "the newest user message is missing")
    if not all(_says(after, message) for message in before if message.role is Role.SYSTEM):
        yield Fault("system", "the system prompt is missing or changed")
    running = {id_ for id_, at in open_calls(before).items() if newest is None or at > newest}
    if not running <= open_calls(after).keys():
        yield Fault("waiting", "a call that still waits for its result is missing")
    heavy, light = weigh(after), weigh(before)
    if heavy > light:
        yield Fault("size", f"it is larger than before: {heavy:,} tokens, and {light:,} went in")


def _messages(handed: object) -> Wire:
    if not isinstance(handed, list):
        kind = type(handed).__name__
        raise DecodeError("openai", "messages", f"expected a list of messages, found a {kind}")
    for index, each in enumerate(cast("list[object]", handed)):
        if not isinstance(each, dict):
            kind = type(each).__name__
            raise DecodeError("openai", f"messages[{index}]", f"expected a message, found a {kind}")
    return cast("Wire", handed)


def _check_dialect(
    sheet: Sheet, handed: Wire, pieces: Sequence[Message | dict[str, object]]
) -> None:
    """Refuse messages of a plug-in's own that OpenAI chat cannot read without loss."""
    known = signs_in(sheet.messages)
    places = {id(message): index for index, message in enumerate(handed)}
    for piece in pieces:
        for sign in signs_in([piece]):
            if sign.excludes("openai") and sign not in known:
                problem = f"it has {sign.what}; an engine hands back OpenAI chat messages"
                raise DecodeError("openai", f"messages[{places[id(piece)]}]", problem)


def _recognized(sheet: Sheet, messages: Wire) -> list[Message | dict[str, object]]:
    """Return the messages with our own wherever one reads as it did: last ones, first, others."""
    texts, groups = tuple(map(_key, messages)), sheet.groups
    end, limit = len(texts), len(groups)
    while limit and _ends(texts, end, groups[limit - 1]):
        limit -= 1
        end -= len(groups[limit])
    last = sheet.transcript[limit : len(groups)]
    start = used = 0
    while used < limit and texts[start : min(start + len(groups[used]), end)] == groups[used]:
        start += len(groups[used])
        used += 1
    between = _found_between(sheet, messages[start:end], range(used, limit))
    return [*sheet.transcript[:used], *between, *last]


def _found_between(sheet: Sheet, messages: Wire, among: range) -> list[Message | dict[str, object]]:
    """Return messages with our own in order, each used once, the latest that reads alike."""
    texts, groups = tuple(map(_key, messages)), sheet.groups
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for index in among:
        if groups[index]:
            alike[groups[index][-1]].append(index)
    found: list[Message | dict[str, object]] = []
    end, limit = len(texts), among.stop
    while end:
        candidates = alike[texts[end - 1]]
        while candidates and candidates[-1] >= limit:
            candidates.pop()
        if candidates and _ends(texts, end, groups[candidates[-1]]):
            limit = candidates[-1]
            end -= len(groups[limit])
            found.append(sheet.transcript[limit])
        else:
            end -= 1
            found.append(messages[end])
    return found[::-1]


def _ends(texts: tuple[str, ...], end: int, group: tuple[str, ...]) -> bool:
    return len(group) <= end and texts[end - len(group) : end] == group


def _decoded(pieces: Sequence[Message | dict[str, object]]) -> Iterator[Message]:
    foreign: list[dict[str, object]] = []
    for piece in pieces:
        if isinstance(piece, Message):
            yield from _OPENAI.decode(Body(foreign)) if foreign else ()
            foreign = []
            yield piece
        else:
            foreign.append(piece)
    yield from _OPENAI.decode(Body(foreign)) if foreign else ()


def _says(after: Transcript, said: Message) -> bool:
    return any(
        message is said or (message.role is said.role and _holds(message, said.text))
        for message in after
    )


def _holds(message: Message, text: str) -> bool:
    return bool(text.strip()) and text in message.text


def _key(message: object) -> str:
    try:
        return json.dumps(message, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise DecodeError("openai", "messages", f"a message is no JSON: {error}") from None
