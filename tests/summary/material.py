"""Generated records, messages and jobs for the tests of summaries."""

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from holdfast.summary.checkpoint import Answer, Ask, Checkpoint, Composed, Declined, Job, Written
from holdfast.summary.record import HEADINGS, Record
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

HOSTILE = ["## Goal", "- x", "3. y", "```", "> q", "  ## Blocked", "None.", "", "**Goal**", "\\# h"]


def words() -> st.SearchStrategy[str]:
    """Return texts of any language that also hold lines which look like our own marks."""
    line = st.sampled_from(HOSTILE) | st.text(max_size=12)
    return st.lists(line, min_size=1, max_size=4).map("\n".join)


def records() -> st.SearchStrategy[Record]:
    """Return records with entries that try to pass for structure."""
    entries = st.lists(words(), max_size=2).map(tuple)
    return st.builds(Record, **dict.fromkeys(HEADINGS, entries))


def count(text: str) -> int:
    """Count tokens the simplest way that adds up in any language."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def user(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


def assistant(text: str, *calls: ToolCall) -> Message:
    return Message(Role.ASSISTANT, (Text(text), *calls))


def exchange(name: str, result: str, *, failed: bool = False, **arguments: object) -> list[Message]:
    """Return a call and its result."""
    call = ToolCall(f"id-{name}-{len(result)}-{arguments}", name, json.dumps(arguments))
    answer = ToolResult(call.id, (Text(result),), is_error=failed)
    return [Message(Role.ASSISTANT, (call,)), Message(Role.TOOL, (answer,))]


def job(
    messages: Sequence[Message],
    *,
    previous: Checkpoint | None = None,
    budget: int = 2_000,
    window: int = 100_000,
    redact: Callable[[str], str] = lambda text: text,
) -> Job:
    return Job(tuple(messages), previous, budget, window, count, redact, "2026-09-01")


@dataclass(frozen=True, slots=True)
class Run:
    """What a driven flow asked, and how it ended."""

    asks: tuple[Ask, ...]
    end: Composed | Declined


def drive(
    flow: Generator[Ask, Answer, Composed | Declined], answer: Callable[[Ask], str | Answer]
) -> Run:
    """Answer every ask of a flow until it ends."""
    asks: list[Ask] = []
    try:
        ask = next(flow)
        while True:
            asks.append(ask)
            told = answer(ask)
            ask = flow.send(Written(told, "tester") if isinstance(told, str) else told)
    except StopIteration as ended:
        return Run(tuple(asks), ended.value)
