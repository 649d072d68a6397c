"""Make a transcript pass every provider's pairing rules: phase five of a compaction.

Agents log results when they arrive, which may be after other messages, and what was imported from
them is in that order. So a window is not valid by itself, and every one passes through here.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.errors import InvalidTranscript
from holdfast.transcript import Media, Message, Role, Synthetic, Text, ToolCall, ToolResult, check
from holdfast.transcript.effects import STUB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.tokens import Scale
    from holdfast.transcript import Transcript

_WORDS = (Text, Media, ToolCall, ToolResult)
"""What a pin keeps of a message."""


def repair(transcript: Transcript) -> Transcript:
    """Give every call exactly one result, right after it and in order.

    A result that stands further on goes back to its call. Results without a call go; calls without
    a result get a stub, save those at the very end, whose tools may still be running. A transcript
    that needs nothing comes back as it is.
    """
    if _is_plainly_paired(transcript):
        return transcript
    groups: list[tuple[Transcript, dict[str, ToolCall], dict[str, Message]]] = []
    waiting: dict[str, dict[str, Message]] = {}
    """Calls without a result so far, each with the answers of its group."""
    start = 0
    while start < len(transcript):
        # A group is a run of calls, by one or more assistant messages, and its results.
        calls: dict[str, ToolCall] = {}
        end = start
        while end < len(transcript) and (own := {each.id: each for each in transcript[end].calls}):
            if own.keys() & calls.keys():
                break  # an id that is used again starts a group of its own
            calls |= own
            end += 1
        while end < len(transcript) and transcript[end].role is Role.TOOL:
            end += 1
        group = transcript[start : max(end, start + 1)]
        answers: dict[str, Message] = {}
        for message in group:
            for result in message.results:
                id_ = result.call_id
                is_own = id_ in calls and id_ not in answers
                home = answers if is_own else waiting.pop(id_, {})
                is_alone = len(message.parts) == 1
                home[id_] = message if is_alone else replace(message, parts=(result,))
        waiting |= dict.fromkeys(calls.keys() - answers.keys(), answers)
        groups.append((group, calls, answers))
        start += len(group)
    paired = [_paired(*each, with_stubs=each is not groups[-1]) for each in groups]
    repaired = tuple(chain.from_iterable(paired))
    return transcript if repaired == transcript else repaired


def strays(transcript: Transcript) -> tuple[str, ...]:
    """Return a warning where results have no call, which `repair` leaves out."""
    calls = {call.id for message in transcript for call in message.calls}
    results = (result for message in transcript for result in message.results)
    count = sum(result.call_id not in calls for result in results)
    if not count:
        return ()
    one, several = "a tool result without its call was", "tool results without their calls were"
    return (f"{one if count == 1 else f'{count} {several}'} left out",)


def lost_pins(before: Transcript, after: Transcript, scale: Scale) -> tuple[str, ...]:
    """Return a warning where pinned messages do not stand word for word in what came out."""
    pinned = [message for message in before if message.pinned]
    kept = {id(part) for message in after for part in message.parts} if pinned else set[int]()
    lost = [
        scale.weigh(message)
        for message in pinned
        if any(isinstance(it, _WORDS) and id(it) not in kept for it in message.parts)
    ]
    if not lost:
        return ()
    count = "a pinned message" if len(lost) == 1 else f"{len(lost)} pinned messages"
    return (
        f"{count} of {sum(lost):,} tokens could not stay word for word, since pins have at most a "
        "tenth of the window, and less where a fit leaves less: say in fewer words what must stay "
        "and pin that, or unpin others",
    )


def ensure_valid(after: Transcript, before: Transcript) -> None:
    """Raise when a valid transcript came out invalid: what providers refuse is never handed out."""
    violations = check(after)
    if violations and not check(before):
        raise InvalidTranscript(
            f"a compaction came out invalid: {violations[0].message}", violations
        )


def merged(first: Message, second: Message) -> Message:
    """Return two messages of one role as one: plain words with a blank line between them.

    What is pinned keeps its parts, by which a store knows it again.
    """
    if _is_plain(first) and _is_plain(second) and not second.pinned:
        return replace(second, parts=(Text(f"{first.text}\n\n{second.text}"),))
    return replace(second, parts=first.parts + second.parts, form="parts")


def _is_plainly_paired(transcript: Transcript) -> bool:
    """Say whether results follow their calls in the plainest way, as nearly always; others may too.

    It is a tenth of the work of looking at each run by itself.
    """
    waiting: list[str] = []
    for message in transcript:
        is_tool = message.role is Role.TOOL
        if waiting and not is_tool:
            return False
        for part in message.parts:
            if isinstance(part, ToolResult):
                if not is_tool or not waiting or waiting.pop(0) != part.call_id:
                    return False
            elif isinstance(part, ToolCall):
                if is_tool or part.id in waiting:
                    return False
                waiting.append(part.id)
    return not waiting


def _paired(
    group: Transcript,
    calls: Mapping[str, ToolCall],
    answers: Mapping[str, Message],
    *,
    with_stubs: bool,
) -> Transcript:
    """Return the group with one answer to each call, in order; as it is where it has them so."""
    order = [result.call_id for message in group for result in message.results]
    is_whole = len(answers) == len(calls) or not with_stubs
    if is_whole and order == [id_ for id_ in calls if id_ in answers]:
        return group
    rest: list[Message] = []
    for message in group:
        said = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if message.role is not Role.TOOL and (said or not message.parts):
            rest.append(message if said == message.parts else replace(message, parts=said))
    for id_, call in calls.items():
        if id_ in answers:
            rest.append(answers[id_])
        elif with_stubs:
            stub = ToolResult(id_, (Text(STUB),), name=call.name)
            rest.append(Message(Role.TOOL, (stub,), synthetic=Synthetic.STUB))
    return tuple(rest)


def _is_plain(message: Message) -> bool:
    return (
        len(message.parts) == 1
        and isinstance(message.parts[0], Text)
        and message.form in ("", "string")
        and not message.parts[0].extras
    )
