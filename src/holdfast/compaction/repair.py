"""Make a transcript pass every provider's pairing rules: phase five of a compaction.

Agents log results when they arrive, which may be after other messages, and what was imported from
them is in that order. So a window is not valid by itself, and every one passes through here.
"""

from __future__ import annotations

from dataclasses import replace

from holdfast.errors import InvalidTranscript
from holdfast.transcript import (
    Message,
    Role,
    Synthetic,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
    check,
)

STUB = "[no result in the window: the call was interrupted or its result is in the summary]"


def repair(transcript: Transcript) -> Transcript:
    """Give every call exactly one result, right after it and in order.

    A result that stands further on goes back to its call. Results without a call go; calls without
    a result get a stub, save those at the very end, whose tools may still be running. A transcript
    that needs nothing comes back as it is.
    """
    if _is_plainly_paired(transcript):
        return transcript
    repaired = _paired_throughout(transcript)
    if repaired is transcript:
        return transcript
    home = _brought_home(transcript)
    return repaired if home is transcript else _paired_throughout(home)


def strays(transcript: Transcript) -> tuple[str, ...]:
    """Return a warning where results have no call, which `repair` leaves out."""
    calls = {call.id for message in transcript for call in message.calls}
    results = (result for message in transcript for result in message.results)
    count = sum(result.call_id not in calls for result in results)
    if not count:
        return ()
    one, several = "a tool result without its call was", "tool results without their calls were"
    return (f"{one if count == 1 else f'{count} {several}'} left out",)


def ensure_valid(after: Transcript, before: Transcript) -> None:
    """Raise when a valid transcript came out invalid: what providers refuse is never handed out."""
    violations = check(after)
    if violations and not check(before):
        raise InvalidTranscript(
            f"a compaction came out invalid: {violations[0].message}", violations
        )


def merged(first: Message, second: Message) -> Message:
    """Return two messages of one role as one: plain words with a blank line between them."""
    if _is_plain(first) and _is_plain(second):
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


def _paired_throughout(transcript: Transcript) -> Transcript:
    """Repair each run of calls and results by itself."""
    repaired: list[Message] = []
    index = 0
    changed = False
    while index < len(transcript):
        group_end = _group_end(transcript, index)
        group = transcript[index:group_end]
        if group_end > index + 1 or group[0].calls or group[0].role is Role.TOOL:
            fixed = _paired(transcript, index, group_end)
            changed = changed or fixed != group
            repaired += fixed
        else:
            repaired += group
        index = group_end
    return tuple(repaired) if changed else transcript


def _brought_home(transcript: Transcript) -> Transcript:
    """Put each result that stands after another group than its call's to the end of that one."""
    waiting: dict[str, int] = {}
    """Calls without a result so far, each with the last message of its group."""
    moved: dict[int, list[Message]] = {}
    rest: dict[int, Message] = {}
    """What is left of messages that held such results."""
    start = 0
    while start < len(transcript):
        end = _group_end(transcript, start)
        open_ids = {call.id for message in transcript[start:end] for call in message.calls}
        for index in range(start, end):
            message = transcript[index]
            for result in message.results:
                if result.call_id in open_ids:
                    open_ids.remove(result.call_id)
                elif result.call_id in waiting:
                    place = waiting.pop(result.call_id)
                    moved.setdefault(place, []).append(replace(message, parts=(result,)))
                    rest[index] = _without(rest.get(index, message), result)
        waiting |= dict.fromkeys(open_ids, end - 1)
        start = end
    if not moved:
        return transcript
    ordered: list[Message] = []
    for index, message in enumerate(transcript):
        left = rest.get(index, message)
        ordered += (left,) if left.parts or left is message else ()
        ordered += moved.get(index, ())
    return tuple(ordered)


def _without(message: Message, result: ToolResult) -> Message:
    return replace(message, parts=tuple(part for part in message.parts if part is not result))


def _group_end(transcript: Transcript, start: int) -> int:
    """Return the end of the run of calls, by one or more assistant messages, and its results."""
    end = start
    ids: set[str] = set()
    while end < len(transcript) and transcript[end].calls:
        own = {call.id for call in transcript[end].calls}
        if own & ids:
            break  # an id that is used again starts a group of its own
        ids |= own
        end += 1
    while end < len(transcript) and transcript[end].role is Role.TOOL:
        end += 1
    return max(end, start + 1)


def _paired(transcript: Transcript, start: int, end: int) -> Transcript:
    group = transcript[start:end]
    calls = {call.id: call for message in group for call in message.calls}
    results: dict[str, ToolResult] = {}
    for message in group:
        for result in message.results:
            if result.call_id in calls:
                results.setdefault(result.call_id, result)
    missing = len(calls) > len(results)
    doubled_or_stray = sum(len(message.results) for message in group) > len(results)
    at_end = end == len(transcript)
    if not doubled_or_stray and (not missing or at_end) and _in_order(group, calls):
        return group
    return _rebuilt(group, calls, results, with_stubs=not at_end)


def _in_order(group: Transcript, calls: dict[str, ToolCall]) -> bool:
    """Say whether results stand in the order of their calls."""
    order = [result.call_id for message in group for result in message.results]
    answered = set(order)
    return order == [id_ for id_ in calls if id_ in answered]


def _rebuilt(
    group: Transcript,
    calls: dict[str, ToolCall],
    results: dict[str, ToolResult],
    *,
    with_stubs: bool,
) -> Transcript:
    callers = [message for message in group if message.role is not Role.TOOL]
    homes = {result.call_id: message for message in group for result in message.results}
    answers: list[Message] = []
    for id_, call in calls.items():
        if id_ in results:
            answers.append(replace(homes[id_], parts=(results[id_],)))
        elif with_stubs:
            stub = ToolResult(id_, (Text(STUB),), name=call.name)
            answers.append(Message(Role.TOOL, (stub,), synthetic=Synthetic.STUB))
    return (*callers, *answers)


def _is_plain(message: Message) -> bool:
    return (
        len(message.parts) == 1
        and isinstance(message.parts[0], Text)
        and message.form in ("", "string")
        and not message.parts[0].extras
    )
