"""Between a typed transcript and what a plug-in reads and hands back.

A plug-in sees OpenAI messages. What it hands back is read again, and each message that it left
alone is the very one that was there before: signatures, pins and identity survive a format that
cannot say them. Only users speak for users: a plug-in's notes have the role `user`, as the format
has no other, and are told from the user's own messages here.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from msgspec.structs import replace

from holdfast.compaction import Folded, Pruned, Report, SummaryReport, Unchanged
from holdfast.compaction.repair import repair
from holdfast.deadline import Hung, Raised, Returned
from holdfast.engines.plugin_thread import Busy, call_offered, plain_json
from holdfast.errors import DecodeError, HoldfastError
from holdfast.transcript import (
    Media,
    Message,
    Recalled,
    Role,
    Summary,
    Synthetic,
    Text,
    ToolResult,
    is_user_word,
    newest_user,
    open_calls,
)
from holdfast.wire import DIALECTS, Body
from holdfast.wire.json_text import encodable
from holdfast.wire.message_text import as_words
from holdfast.wire.recognition import signs_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.compaction import Outcome, Request
    from holdfast.engines.contract import ContextEngine, Wire
    from holdfast.engines.plugin_thread import PluginThread
    from holdfast.transcript import Part, Transcript

_OPENAI = DIALECTS["openai"]

_MARKS = ("[", "<", "#", "*", "-", "=")
"""How a text begins that says of itself what it is: `[Summary]`, `<summary>`, `## Summary`."""
Weigh: TypeAlias = Callable[[Iterable[Message]], int]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with what a plug-in handed back."""

    rule: str
    """A stable name: `shape`, `validity`, `newest-user`, `system`, `waiting` or `size`."""
    message: str


@dataclass(frozen=True, slots=True)
class PluginTranscript:
    """A transcript as a plug-in reads it."""

    transcript: Transcript
    messages: Wire
    groups: tuple[tuple[str, ...], ...]
    """For each message of the transcript, how it reads; empty where that cannot be told."""


def shown_to_plugin(transcript: Transcript) -> PluginTranscript:
    """Write a transcript for a plug-in, valid whatever happened to its calls."""
    whole = repair(transcript)
    written = encodable(_OPENAI.encode(whole).messages)
    groups = [encodable(_OPENAI.encode((message,)).messages) for message in whole]
    if [each for group in groups for each in group] != written:
        # Some dialects' messages cannot be written one by one; then nothing is recognized.
        return PluginTranscript(whole, written, ())
    return PluginTranscript(whole, written, tuple(tuple(map(_key, group)) for group in groups))


def read_back(shown: PluginTranscript, handed: object) -> Transcript:
    """Return what a plug-in handed back, with the messages that it left alone as they were.

    What it wrote in a user's name is a note.

    Raises:
        DecodeError: when it is no list of OpenAI messages.
    """
    return attributed(shown.transcript, as_handed(shown, handed))


def as_handed(shown: PluginTranscript, handed: object) -> Transcript:
    """Return what a plug-in handed back, with its own words as it wrote them.

    Raises:
        DecodeError: when it is no list of OpenAI messages.
    """
    messages = _messages(handed)
    pieces = _recognized(shown, messages)
    _check_dialect(shown, messages, pieces)
    return tuple(_decoded(pieces))


def faults(
    shown: PluginTranscript,
    after: Transcript,
    handed: Wire,
    weigh: Callable[[Iterable[Message]], int],
) -> Iterator[Fault]:
    """Yield what forbids the use of what a plug-in handed back."""
    before = shown.transcript
    violations = _OPENAI.validate(Body(handed))
    if violations and not _OPENAI.validate(Body(shown.messages)):
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
    shown: PluginTranscript, handed: Wire, pieces: Sequence[Message | dict[str, object]]
) -> None:
    """Refuse messages of a plug-in's own that OpenAI chat cannot read without loss."""
    known = signs_in(shown.messages)
    places = {id(message): index for index, message in enumerate(handed)}
    for piece in pieces:
        for sign in signs_in([piece]):
            if sign.excludes("openai") and sign not in known:
                problem = f"it has {sign.what}; an engine hands back OpenAI chat messages"
                raise DecodeError("openai", f"messages[{places[id(piece)]}]", problem)


def _recognized(shown: PluginTranscript, messages: Wire) -> list[Message | dict[str, object]]:
    """Return the messages with our own wherever one reads as it did: last ones, first, others."""
    texts, groups = tuple(map(_key, messages)), shown.groups
    end, limit = len(texts), len(groups)
    while limit and _ends(texts, end, groups[limit - 1]):
        limit -= 1
        end -= len(groups[limit])
    last = shown.transcript[limit : len(groups)]
    start = used = 0
    while used < limit and texts[start : min(start + len(groups[used]), end)] == groups[used]:
        start += len(groups[used])
        used += 1
    between = _found_between(shown, messages[start:end], range(used, limit))
    return [*shown.transcript[:used], *between, *last]


def _found_between(
    shown: PluginTranscript, messages: Wire, among: range
) -> list[Message | dict[str, object]]:
    """Return messages with our own in order, each used once, the latest that reads alike."""
    texts, groups = tuple(map(_key, messages)), shown.groups
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
            found.append(shown.transcript[limit])
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
    has_words = bool(said.text.strip())
    return any(
        message is said or (has_words and message.role is said.role and said.text in message.text)
        for message in after
    )


def _key(message: object) -> str:
    try:
        return json.dumps(message, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise DecodeError("openai", "messages", f"a message is no JSON: {error}") from None


def attributed(before: Transcript, after: Transcript) -> Transcript:
    """Return what a plug-in handed back, with its own words as notes.

    A summary is what the plug-in wrote itself: what stood in the input as words of somebody, or in
    what a tool printed, stays words. Where the user's newest message is not there as it was, but
    its words are lines of their own in one that the plug-in wrote, that one is parted: into a
    note, and the message of the user.
    """
    at = newest_user(before)
    own = None if at is None or any(each is before[at] for each in after) else before[at]
    ours = {id(message) for message in before}
    carrier = None
    if own is not None:
        theirs = (
            at
            for at in range(len(after) - 1, -1, -1)
            if id(after[at]) not in ours and after[at].role is Role.USER
        )
        carrier = next((at for at in theirs if _around(after[at].text, own.text) is not None), None)
    found: list[Message] = []
    for index, message in enumerate(after):
        if message.summary is not None and id(message) not in ours:
            message = _unless_quoted(message, before)
        if id(message) in ours or not is_user_word(message):
            found.append(message)
        elif own is not None and index == carrier:
            found += _parted(message, own)
        else:
            found.append(replace(message, synthetic=Synthetic.NOTE))
    return tuple(found)


def _unless_quoted(message: Message, before: Transcript) -> Message:
    """Return a message with a summary, as words where it stood in the input as such."""
    words = as_words(message)
    parts = (part for each in before for part in each.parts)
    is_quoted = any(
        isinstance(part, Text | ToolResult) and words.text in part.text for part in parts
    )
    return words if is_quoted else message


def labelled(before: Transcript, after: Transcript, writer: str) -> Transcript:
    """Return the transcript with a line in every new note that could be read as the user's."""
    label = f"[Written by the engine {writer}, not by the user.]\n"
    found = list(after)
    for at in _borrowed(before, after):
        first, *rest = after[at].parts
        opening = (Text(label.strip()), first)
        if isinstance(first, Text):
            opening = (replace(first, text=label + first.text),)
        found[at] = replace(after[at], parts=(*opening, *rest))
    return tuple(found)


def borrowed(before: Transcript, after: Transcript) -> Iterator[str]:
    """Yield the texts that a plug-in wrote as if the user had."""
    yield from (after[at].text for at in _borrowed(before, after))


def _borrowed(before: Transcript, after: Transcript) -> Iterator[int]:
    """Yield where a message speaks as a user, and is none of the messages before."""
    ours = {id(message) for message in before}
    said = {message.text.strip() for message in before if message.role is Role.USER}
    for at, message in enumerate(after):
        if message.role is Role.USER and id(message) not in ours:
            text = message.text.strip()
            if text and text not in said and not text.startswith(_MARKS):
                yield at


def _around(text: str, words: str) -> tuple[str, str] | None:
    """Return what stands before and after words that are lines of their own in a text."""
    if not words.strip():
        return None
    at = text.rfind(words)
    while at >= 0:
        before, after = text[:at], text[at + len(words) :]
        if before[-1:] in ("", "\n") and after[:1] in ("", "\n"):
            return before, after
        at = text.rfind(words, 0, at + len(words) - 1)
    return None


def _parted(message: Message, own: Message) -> Iterator[Message]:
    around = _around(message.text, own.text) or ("", "")
    texts: list[Part] = [Text(each.strip()) for each in around if each.strip()]
    shown = {(each.data, each.url) for each in own.parts if isinstance(each, Media)}
    others: list[Part] = [
        each
        for each in message.parts
        if not isinstance(each, Text | Recalled)
        and not (isinstance(each, Media) and (each.data, each.url) in shown)
    ]
    note = (*others, *texts)
    if note:
        only_record = all(isinstance(each, Summary) for each in note)
        why = Synthetic.SUMMARY if only_record else Synthetic.NOTE
        yield Message(Role.USER, note, synthetic=why)
    yield own


@dataclass(frozen=True, slots=True)
class PassRefused:
    """What a plug-in did cannot be used."""

    reason: str


def plugin_pass(
    plugin: PluginThread, transcript: Transcript, request: Request, weigh: Weigh
) -> Outcome | PassRefused:
    """Return what a plug-in made of a transcript, as an outcome like any other."""
    shown = shown_to_plugin(transcript)
    details: dict[str, object] = {
        "current_tokens": request.current_tokens or weigh(transcript),
        "focus_topic": request.focus or None,
        "force": request.is_manual,
    }

    def compress(engine: ContextEngine) -> object:
        # Copies: what a plug-in does to its input is nobody else's business.
        if request.is_manual:
            copy = deepcopy(shown.messages)
            if call_offered(engine, "has_content_to_compress", copy, details={}) is False:
                return shown.messages
        if request.before_folding is not None:
            # Which messages a plug-in folds is known only afterwards: memory sees all of them.
            details["memory_context"] = request.before_folding(transcript)
        handed = call_offered(engine, "compress", deepcopy(shown.messages), details=details)
        return plain_json(cast("object", handed)) if isinstance(handed, list) else handed

    ending = plugin.ask(compress, patience=plugin.deadline)
    match ending:
        case Raised(reason=reason) | Hung(reason=reason):
            return PassRefused(f"compress: {reason}")
        case Busy():
            return PassRefused("compress: an earlier call is still running")
        case Returned(handed):
            try:
                after = read_back(shown, handed)
            except HoldfastError as error:
                return PassRefused(f"what compress returned cannot be read: {error}")
            fault = next(faults(shown, after, cast("Wire", handed), weigh), None)
            if fault is not None:
                return PassRefused(f"what compress returned cannot be used: {fault.message}")
            after = labelled(shown.transcript, after, plugin.name)
            return _outcome(plugin.name, shown.transcript, after, weigh)


def _outcome(name: str, before: Transcript, after: Transcript, weigh: Weigh) -> Outcome:
    heavy, light = weigh(before), weigh(after)
    size = len(before)
    if light >= heavy:
        report = Report(
            tokens_before=heavy, tokens_after=heavy, messages_before=size, messages_after=size
        )
        return Unchanged(before, report, f"the engine {name} left nothing out")
    ours = {id(message) for message in before}
    written = [message for message in after if id(message) not in ours]
    report = Report(
        tokens_before=heavy,
        tokens_after=light,
        messages_before=size,
        messages_after=len(after),
        folded=size - (len(after) - len(written)),
        summary=SummaryReport("engine", name, weigh(written)) if written else None,
    )
    return (Folded if len(after) < size and written else Pruned)(after, report)
