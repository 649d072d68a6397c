"""Shorten what stands in a transcript, without a model: stale output, old media, oversized results.

Pruning is for the window only. The record, the audit and the summarizer's brief are made from
the original turns, so that evidence in tool results is read before it goes.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias, cast

from msgspec.structs import replace

from holdfast.compaction.report import PrunedCounts
from holdfast.redaction.redactor import redact_all
from holdfast.tokens import MESSAGE_TOKENS
from holdfast.transcript import (
    Media,
    Message,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
    exchange_at,
    newest_user,
)
from holdfast.transcript.arguments import parsed
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from holdfast.compaction.policy import PassContext
    from holdfast.tokens import Scale
    from holdfast.transcript import Content, Transcript

    _Kinds: TypeAlias = tuple[str, ...]

LONG = 200
"""Results and argument strings up to this many characters are left alone."""

_LEAF_FRONT = 160
_AGAIN = "same output as a later call, shown there"
_SHORTENED = (Role.TOOL, Role.ASSISTANT)
_PIECE = 48
"""Characters in the middle of a text that tell it from nearly all others of its length."""
_RECALL_TOOLS = frozenset(
    {"session_search", "memory", "ctx_grep", "ctx_describe", "ctx_expand", "ctx_recent"}
)
"""What recall brought back is exempt: shortening it would make the agent fetch it for ever."""

_SMALLEST = 120
"""No result is cut below this many tokens."""
_FRONT = 0.65
_NEAR, _TRIES = 2_048, 32
"""Characters on either side of a cut in which secrets are looked for, and words tried."""
_WORD = re.compile(r"(?<!\S)\S")


@dataclass(frozen=True, slots=True)
class PrunedTranscript:
    """A shortened transcript, message for message, and what was shortened."""

    transcript: Transcript
    counts: PrunedCounts
    whole: Transcript = field(default=(), compare=False, repr=False)
    """The same with nothing but media taken out."""
    kinds: Mapping[int, _Kinds] = field(
        default_factory=dict[int, "_Kinds"], compare=False, repr=False
    )
    """How the parts of each message were shortened."""

    def until(self, end: int) -> PrunedTranscript:
        """Return it with only the messages before an index shortened."""
        kinds = (kinds for at, kinds in self.kinds.items() if at < end)
        counts = _counted(kinds, self.counts.media)
        return dataclasses.replace(
            self, transcript=self.transcript[:end] + self.whole[end:], counts=counts
        )


def prune(
    transcript: Transcript,
    context: PassContext,
    *,
    protected: int,
    only: Iterable[int] | None = None,
) -> PrunedTranscript:
    """Shorten stale tool output and arguments before index `protected`, and historical media.

    Identical results keep only their newest copy; other long results become one informative
    line, redacted; long strings inside old arguments are cut inside the parsed JSON, where no
    secret is parted. Where other messages will be folded, `only` these are rewritten.
    """
    # Media first: what stands for it is text, and would make a line that was shortened long again.
    shown = without_old_media(transcript)
    whole = shown.messages
    places = range(protected) if only is None else sorted(at for at in only if at < protected)
    long = [at for at in places if _may_be_shortened(whole[at])]
    if not long:
        return PrunedTranscript(whole, PrunedCounts(media=shown.count), whole)
    stale = _Stale(whole, context)
    # Most are alike: thousands of small values more would make garbage collection run.
    alike: dict[_Kinds, _Kinds] = {}
    found: dict[int, _Kinds] = {}
    for index in long:
        if any(kinds := stale.kinds(index)):
            found[index] = alike.setdefault(kinds, kinds)
    counts = _counted(found.values(), shown.count)
    return PrunedTranscript(stale.shortened(found), counts, whole, found)


def _may_be_shortened(message: Message) -> bool:
    """Say whether a message has a long result or long arguments; most have neither."""
    if message.role not in _SHORTENED or message.pinned:
        return False
    for part in message.parts:
        if type(part) is ToolResult and len(part.text) > LONG:
            return True
        if type(part) is ToolCall and len(part.arguments) > LONG:
            return True
    return False


def _counted(kinds: Iterable[_Kinds], media: int) -> PrunedCounts:
    return PrunedCounts(**Counter(filter(len, chain.from_iterable(kinds))), media=media)


def can_weigh(most: int, messages: Transcript, weights: Iterable[int], scale: Scale) -> bool:
    """Say whether pruning may get messages down to a weight, however short its lines are."""
    for message, weight in zip(messages, weights, strict=False):
        if most < 0:
            break
        if message.role is Role.USER or message.pinned:
            most -= weight
        elif _media_in(message):
            most -= MESSAGE_TOKENS
        else:
            most -= weight
            for part in message.parts:
                # A weight was rounded as a whole, and what goes of it is rounded piece by piece.
                if isinstance(part, ToolCall) and len(part.arguments) > LONG:
                    most += scale.text(part.arguments) + 1
                elif isinstance(part, ToolResult) and len(part.text) > LONG:
                    texts = [piece.text for piece in part.content if isinstance(piece, Text)]
                    most += sum(scale.text(text) + 1 for text in texts)
    return most >= 0


def squeezed(messages: Transcript, context: PassContext) -> Transcript:
    """Return the messages in their shortest form: calls stay, and so does every word."""
    stale = _Stale(messages, context)
    spoken = (at for at, message in enumerate(messages) if message.role is not Role.USER)
    return stale.shortened({index: stale.kinds(index) for index in spoken})


class _Stale:
    """Tells which parts of a transcript may be shortened, and shortens them."""

    def __init__(self, transcript: Transcript, context: PassContext) -> None:
        self._transcript = transcript
        self._context = context
        self._calls: dict[str, ToolCall] = {}
        self._newest: dict[str, int] = {}
        """Where a text stands last that another of the same sketch comes before."""
        self._shared: set[int] = set()
        """The lengths of such texts."""
        first: dict[int, str] = {}
        """The first text of each length: where there is no other, nothing is the same."""
        seen: set[str] = set()
        for index, message in enumerate(transcript):
            for part in message.parts:
                if type(part) is ToolCall:
                    self._calls[part.id] = part
                elif type(part) is ToolResult and len(text := part.text) > LONG:
                    if (size := len(text)) not in first:
                        first[size] = text
                        continue
                    seen.add(_sketch(first[size]))
                    if (sketch := _sketch(text)) in seen:
                        self._shared.add(size)
                        self._newest[text] = index
                    seen.add(sketch)

    def kinds(self, index: int) -> _Kinds:
        """Return how each part of a message would be shortened; nothing for one that stays."""
        found: list[str] = []
        # Without patterns: this runs for every part of a transcript.
        for part in self._transcript[index].parts:
            kind = ""
            if isinstance(part, ToolResult):
                text = part.text
                if len(text) > LONG and self._call(part).name not in _RECALL_TOOLS:
                    is_last = len(text) not in self._shared or self._newest.get(text, -1) <= index
                    kind = "summarised" if is_last else "deduplicated"
            elif isinstance(part, ToolCall) and len(part.arguments) > LONG:
                try:
                    kind = "arguments" if _has_long_leaf(parsed(part.arguments)) else ""
                except (ValueError, RecursionError):
                    kind = ""
            found.append(kind)
        return tuple(found)

    def shortened(self, chosen: Mapping[int, _Kinds]) -> Transcript:
        """Return the transcript with the parts of some messages shortened, each in a given way.

        The lines are redacted together: a look for secrets costs more than to read a line.
        """
        pruned = [*self._transcript]
        describe, redact = self._context.toolkit.describe, self._context.redact
        lines = (
            describe(self._call(part), part if kind == "summarised" else None)
            for index, kinds in chosen.items()
            for part, kind in zip(pruned[index].parts, kinds, strict=True)
            if kind and isinstance(part, ToolResult)
        )
        told = iter(redact_all([*lines], redact))
        for index, kinds in chosen.items():
            it = pruned[index]
            parts: list[Part] = []
            for part, kind in zip(it.parts, kinds, strict=True):
                shorter = part
                if kind and isinstance(part, ToolCall):
                    leaves = _cut_leaves(parsed(part.arguments), redact)
                    shorter = replace(part, arguments=json.dumps(leaves, ensure_ascii=False))
                elif kind and isinstance(part, ToolResult):
                    line = next(told)
                    if kind == "deduplicated":
                        line = f"{line.removesuffix(' (no result)')} - {_AGAIN}"
                    others = [piece for piece in part.content if not isinstance(piece, Text)]
                    content = (Text(f"[{flat(line, LONG - 2)}]"), *others)
                    shorter = ToolResult(
                        part.call_id, content, part.is_error, part.name, part.form, part.extras
                    )
                parts.append(shorter)
            pruned[index] = Message(
                it.role, tuple(parts), it.form, it.synthetic, it.pinned, it.extras
            )
        return tuple(pruned)

    def _call(self, result: ToolResult) -> ToolCall:
        known = self._calls.get(result.call_id)
        return known or ToolCall(result.call_id, result.name or "tool")


def _sketch(text: str) -> str:
    """Return what equal texts have in common: to hash whole ones is to read megabytes."""
    middle = len(text) // 2
    return f"{len(text)} {text[middle : middle + _PIECE]}"


def _has_long_leaf(value: object) -> bool:
    if isinstance(value, str):
        return len(value) > LONG
    if isinstance(value, dict):
        return any(map(_has_long_leaf, cast("dict[str, object]", value).values()))
    return isinstance(value, list) and any(map(_has_long_leaf, cast("list[object]", value)))


def _cut_leaves(value: object, redact: Callable[[str], str]) -> object:
    match value:
        case str() if len(value) > LONG:
            front = unparted(value, _LEAF_FRONT, redact)
            return f"{value[:front]}… [{len(value) - front} characters more]"
        case dict():
            entries = cast("dict[str, object]", value)
            return {key: _cut_leaves(item, redact) for key, item in entries.items()}
        case list():
            return [_cut_leaves(item, redact) for item in cast("list[object]", value)]
        case _:
            return value


@dataclass(frozen=True, slots=True)
class Shortened:
    """Messages, one for one, and how many pieces of them were shortened or taken out."""

    messages: Transcript
    count: int


def without_old_media(transcript: Transcript) -> Shortened:
    """Put a placeholder where historical media was.

    What stays is the media of the newest user message that carries any, and what tools showed
    last in the turn that is still running.
    """
    showing = [index for index, message in enumerate(transcript) if _media_in(message)]
    if not showing:
        return Shortened(transcript, 0)
    by_users = [index for index in showing if transcript[index].role is Role.USER]
    running = newest_user(transcript) or 0
    by_tools = [index for index in showing if index > running and transcript[index].results]
    current = {*by_users[-1:]}
    if by_tools:
        # Results of parallel calls stand side by side and are seen together.
        current |= {*by_tools} & {*exchange_at(transcript, by_tools[-1])}
    stale = [index for index in showing if index not in current and not transcript[index].pinned]
    result = [*transcript]
    for index in stale:
        parts = tuple(map(_placeheld, transcript[index].parts))
        result[index] = replace(transcript[index], parts=parts)
    return Shortened(tuple(result), sum(_media_in(transcript[index]) for index in stale))


def _media_in(message: Message) -> int:
    count = 0
    for part in message.parts:
        if type(part) is Media:
            count += 1
        elif type(part) is ToolResult:
            for piece in part.content:
                count += type(piece) is Media
    return count


def _placeheld(part: Part) -> Part:
    if isinstance(part, ToolResult):
        content = cast("tuple[Content, ...]", tuple(map(_placeheld, part.content)))
        return replace(part, content=content)
    if not isinstance(part, Media):
        return part
    size = f", {len(part.data) * 3 // 4 // 1024 + 1} kB" if part.data else ""
    kind = part.media_type or "of an earlier turn"
    return Text(f"[{part.kind} {kind}{size}: not in the window]")


def truncate(messages: Sequence[Message], budget: int, context: PassContext) -> Shortened:
    """Cut the heaviest tool results until the messages weigh no more than the budget.

    Only tool results give way: the words of users and of the model are never truncated. Where the
    store has a result whole, a pointer to it is left.
    """
    kept, scale = list(messages), context.scale
    over = scale.total(kept) - budget
    results = ((at, result) for at, message in enumerate(kept) for result in message.results)
    count = 0
    for weight, at in sorted([(scale.text(each.text), at) for at, each in results], reverse=True):
        if over <= 0 or weight <= _SMALLEST:
            break
        share = max(weight - over, _SMALLEST) / weight
        before = scale.weigh(kept[at])
        parts = tuple(_cut(part, share, context) for part in kept[at].parts)
        kept[at] = replace(kept[at], parts=parts)
        over -= before - scale.weigh(kept[at])
        count += 1
    return Shortened(tuple(kept), count)


def without_bulk(messages: Transcript, budget: int, context: PassContext) -> Transcript:
    """Return messages with as little of their tool results as fits, and all of their words."""
    cropped = truncate(messages, budget, context).messages
    return cropped if context.scale.total(cropped) <= budget else squeezed(messages, context)


def middle_out(text: str, room: int, pointer: str = "", redact: Callable[[str], str] = str) -> str:
    """Return the beginning and the end of a text that is longer than `room` characters.

    A note says what was left out between, and ends with the pointer to the whole text. Where
    `redact` finds a secret across a cut, all of it is left out.
    """
    if room >= len(text):
        return text
    front = int(room * _FRONT)
    back = unparted(text, len(text) - room + front, redact, forward=True)
    front = unparted(text, front, redact)
    note = f"[... {back - front:,} characters left out here{pointer} ...]"
    return f"{text[:front]}\n{note}\n{text[back:]}"


def unparted(text: str, at: int, redact: Callable[[str], str], *, forward: bool = False) -> int:
    """Return the place nearest to `at` where a cut parts no secret, before it or behind it.

    Half a secret is not known as one. What is kept must therefore be redacted alone as it is
    within the text.
    """
    first = max(at - _NEAR, 0)
    near = text[first : at + _NEAR]
    masked = redact(near)
    if masked == near:
        return at
    places = (
        _WORD.finditer(near, at - first)
        if forward
        else reversed([*_WORD.finditer(near, 0, at - first)])
    )
    for place in (at - first, *(each.start() for each in islice(places, _TRIES))):
        kept = redact(near[place:] if forward else near[:place])
        if masked.endswith(kept) if forward else masked.startswith(kept):
            return first + place
    return first + len(near) if forward else first


def pointer_to(message_id: int | str) -> str:
    """Return the words that tell a model how to get at a stored original."""
    return (
        f"; the store has all of it: session_search with around_message_id={message_id}"
        " and window=0"
    )


def _cut(part: Part, share: float, context: PassContext) -> Part:
    if not isinstance(part, ToolResult):
        return part
    stored = context.request.stored.get(part.call_id)
    pointer = "" if stored is None else pointer_to(stored)
    content: list[Content] = []
    for piece in part.content:
        if isinstance(piece, Text):
            text = piece.text
            # The note costs about twenty tokens, so a little more than needed is taken out.
            room = int(len(text) * share * 0.9) - 80 - len(pointer)
            note = f"[{len(text):,} characters left out here{pointer}]"
            if room > 0:
                text = middle_out(text, room, pointer, context.redact)
            elif 2 * len(note) < len(text):
                # What stands for a picture is as short as the note, and says more.
                text = note
            piece = replace(piece, text=text)
        content.append(piece)
    return replace(part, content=tuple(content))
