"""The window of a Codex session: what its model sees, and what a compaction leaves of it.

A rollout names no parents: what a compaction or a rollback leaves follows from what stood in the
window before it. A compaction names no message either. It repeats in full what the model goes on
with, and what it repeats is found again by its words; the oldest ones repeat nothing and keep the
prompts. What we write ourselves names the messages in a note.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.codex.items import is_prompt, message_of
from holdfast.formats.content import summarized
from holdfast.formats.events import MAIN, CompactionEvent, Problem, RewindEvent
from holdfast.formats.json_access import (
    count,
    is_array,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
)
from holdfast.transcript import Message, Role, Thinking, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

_PROMPT = "prompt"
_CONTEXT = "context"
_ANSWER = "answer"
_SILENT = (Thinking, ToolCall)


class RolloutWindow:
    """The names of the messages that the model sees, in order."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._kinds: dict[str, str] = {}
        self._shown: list[str] = []
        self.instructions: tuple[str, ...] = ()
        """The name of the prompt that stands beside every request, whatever is compacted."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Return what is shown."""
        return tuple(self._shown)

    def add(self, key: str, message: Message) -> None:
        """Show one more message."""
        if is_prompt(message):
            kind = _PROMPT
        elif message.role in (Role.SYSTEM, Role.USER) and message.summary is None:
            kind = _CONTEXT
        else:
            kind = _ANSWER
        self._kinds[key] = kind
        self._shown.append(key)

    def show(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Show these messages and no others, and return those of them that were ever told."""
        self._shown = [key for key in dict.fromkeys(keys) if key in self._kinds]
        return tuple(self._shown)

    def without_answers(self) -> tuple[str, ...]:
        """Return what a compaction of the oldest kind leaves: instructions and prompts."""
        return tuple(key for key in self._shown if self._kinds[key] != _ANSWER)

    def prompts_after(self, place: int) -> int:
        """Return how many prompts are shown from a place on."""
        return sum(self._kinds[key] == _PROMPT for key in self._shown[place:])

    def without_turns(self, count: int) -> tuple[str, ...]:
        """Return what is left when the user takes the newest turns back.

        What stands before the first prompt stays. What was injected for a turn goes with it.
        """
        prompts = [at for at, key in enumerate(self._shown) if self._kinds[key] == _PROMPT]
        if count <= 0 or not prompts:
            return self.keys
        cut = prompts[-count] if count <= len(prompts) else prompts[0]
        while cut > prompts[0] and self._kinds[self._shown[cut - 1]] == _CONTEXT:
            cut -= 1
        return tuple(self._shown[:cut])


@dataclass(frozen=True, slots=True)
class _Reply:
    """An answer of the model while it goes on."""

    id: str
    has_words: bool
    has_calls: bool


class AnswerTracker:
    """Tells which messages are one answer: thoughts, words, and calls made together.

    An answer holds words once, because each spoken item has fields of its own.
    """

    def __init__(self) -> None:
        """Wait for the first answer."""
        self._open: _Reply | None = None
        self._count = 0

    def joins(self, message: Message) -> str:
        """Return the answer that a message of the model goes on with; "" for a new one."""
        return self._joined(speaks=_speaks(message.parts))

    def _joined(self, *, speaks: bool) -> str:
        reply = self._open
        if reply is None or (speaks and (reply.has_words or reply.has_calls)):
            return ""
        return reply.id

    def take(self, message: Message, noted: object = None) -> str:
        """Return the answer that a message belongs to, and go on from there.

        Args:
            message: what was told.
            noted: the answer that the file says it belongs to; empty for one of its own.
        """
        if message.role is not Role.ASSISTANT:
            self.close()
            return ""
        speaks = _speaks(message.parts)
        joined = self._joined(speaks=speaks)
        if isinstance(noted, str) and noted != joined:
            self._open = None
            joined = noted
        before = self._open if joined else None
        self._count += not joined
        reply = joined or f"answer-{self._count}"
        self._open = _Reply(
            reply,
            has_words=speaks or (before is not None and before.has_words),
            has_calls=bool(message.calls) or (before is not None and before.has_calls),
        )
        return reply

    def close(self) -> None:
        """End the answer: what comes next begins another."""
        self._open = None


def _speaks(parts: Sequence[object]) -> bool:
    for part in parts:  # noqa: SIM110
        if not isinstance(part, _SILENT):
            return True
    return False


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message that first stands in a compaction."""

    message: Message
    id: str = ""


@dataclass(frozen=True, slots=True)
class CompactionLine:
    """A line that changes what the model sees."""

    record: SourceRecord
    note: JsonObject

    @staticmethod
    def of(record: SourceRecord) -> CompactionLine:
        """Return the compaction of a line."""
        note = mapping(mapping(record.value).get("holdfast"))
        return CompactionLine(record, mapping(note.get("fold")))

    def event(self, shows: tuple[str, ...]) -> CompactionEvent | RewindEvent:
        """Return the event, from what the model sees after it."""
        entry, note, line = mapping(self.record.value), self.note, self.record.line
        at = milliseconds(entry.get("timestamp"))
        if note.get("rewound") is True:
            return RewindEvent(strand=MAIN, line=line, shows=shows, at=at)
        window = string(mapping(entry.get("payload")).get("window_id"))
        return CompactionEvent(
            strand=MAIN,
            line=line,
            id=string(note.get("id")) or window or f"#{line}",
            shows=shows,
            at=at,
            trigger=string(note.get("trigger")),
            tokens_before=count(note.get("before")) or None,
            tokens_after=count(note.get("after")) or None,
        )


def replacement(
    payload: JsonObject,
    fold: CompactionLine,
    heard: Mapping[int, Sequence[str]],
    window: RolloutWindow,
) -> Iterator[str | NewMessage | Problem]:
    """Return what the model sees after a compaction, in its order.

    Args:
        payload: what Codex wrote.
        fold: the line it stood on.
        heard: the names of messages, by what they say.
        window: what the model saw before.
    """
    items = payload.get("replacement_history")
    said = string(payload.get("message"))
    if "shows" in fold.note:
        listed = mappings(items)
        place = fold.note.get("summary")
        summary = listed[place : place + 1] if isinstance(place, int) and place >= 0 else ()
        for key in sequence(fold.note.get("shows")):
            if isinstance(key, str):
                yield key
            else:
                yield from _read(summary, "", fold)
    elif is_array(items):
        yield from window.instructions
        # The names of messages that were told before; of equal ones, the newest.
        given = _read(mappings(items), said, fold)
        words = [
            hash(each.message.text.strip())
            if isinstance(each, NewMessage)
            and each.message.role in (Role.USER, Role.SYSTEM)
            and each.message.summary is None
            else 0
            for each in given
        ]
        counts = Counter(words)
        known = {each: iter(heard.get(each, ())[-count:]) for each, count in counts.items() if each}
        for each, wording in zip(given, words, strict=True):
            yield next(known.get(wording, iter(())), each)
    elif said.strip():
        yield from window.without_answers()
        yield NewMessage(summarized(said, "codex"))


def _read(
    items: Sequence[JsonObject], said: str, fold: CompactionLine
) -> Sequence[NewMessage | Problem]:
    """Return the messages of a compaction, one of them its summary where it has one in words."""
    found: list[NewMessage | Problem] = []
    for item in items:
        try:
            message = message_of(item)
        except DecodeError as error:
            reason = f"replacement_history: {error.path}: {error.problem}"
            found.append(Problem(fold.record.line, reason, fold.record.file))
            continue
        if message is not None and message.parts:
            found.append(NewMessage(message, string(item.get("id"))))
    given = [each for each in found if isinstance(each, NewMessage)]
    if said.strip() and all(each.message.summary is None for each in given):
        # The last message with the words of the summary is the summary.
        summary = NewMessage(summarized(said, "codex"))
        for place in range(len(found) - 1, -1, -1):
            each = found[place]
            if not isinstance(each, NewMessage) or each.message.role is not Role.USER:
                continue
            if each.message.text.strip().endswith(said.strip()):
                found[place] = replace(each, message=summary.message)
                break
        else:
            found.append(summary)
    return found
