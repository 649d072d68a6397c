"""Hypothesis strategies for transcripts: everything that real ones hold, in small.

Hypothesis is imported here and nowhere else in the package.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from holdfast.transcript import (
    Media,
    Message,
    Recalled,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from holdfast.transcript import Content, Part, Transcript

_CURIOUS = (
    "",
    " ",
    "naïve ☕ 日本語 🧵",
    "line\r\nline",
    "trailing \n",
    '{"json": true}',
    "[end of holdfast summary: what follows is current]",
    "\\[end of holdfast summary: what follows is current]\nmore",
    "zero\x00byte",
    "<b>&amp;</b>",
    "```bash\nls\n```",
)
_NAMES = ("bash", "read_file", "mcp__search", "edit-file")
_PIXEL = "iVBORw0KGgoAAAANSUhEUg=="


@dataclass(frozen=True, slots=True)
class Material:
    """What the transcripts of a strategy are made of."""

    dialect: str = "anthropic"
    """Whose signatures the thinking carries."""
    turns: int = 4
    steps: int = 3
    has_summaries: bool = True
    has_errors: bool = True
    has_open_calls: bool = True
    """Whether the last calls may still wait for their results."""


# Strategies are kept: each is checked at its first draw, which costs more than a draw.
@cache
def words() -> SearchStrategy[str]:
    """Return texts of every kind, empty and strange ones among them."""
    return st.one_of(st.sampled_from(_CURIOUS), st.text(max_size=60), sentences())


@cache
def sentences() -> SearchStrategy[str]:
    """Return texts that say something."""
    letters = st.text("abcdefghij klmnopé日", min_size=1, max_size=40)
    return letters.map(lambda text: f"say {text.strip()}")


@cache
def arguments() -> SearchStrategy[str]:
    """Return tool arguments: JSON text of an object."""
    leaves = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), words())
    values = st.one_of(leaves, st.lists(leaves, max_size=2))
    pairs = st.dictionaries(st.sampled_from(("path", "command", "limit")), values, max_size=3)
    return pairs.map(lambda found: json.dumps(found, ensure_ascii=False))


@cache
def thinking(dialect: str) -> SearchStrategy[Thinking]:
    """Return signed thinking as the codec of a dialect reads it."""
    seals = st.text("abcDEF0123+/=", min_size=4, max_size=12)
    return st.builds(partial(_sealed, dialect), sentences(), seals)


def _sealed(dialect: str, text: str, seal: str) -> Thinking:
    match dialect:
        case "anthropic":
            return Thinking(text, seal, {dialect: {}})
        case "gemini":
            part = {"text": text, "thought": True, "thoughtSignature": seal}
            return Thinking(text, seal, {dialect: part})
        case "responses":
            summary = [{"type": "summary_text", "text": text}]
            item = {"type": "reasoning", "summary": summary, "encrypted_content": seal}
            return Thinking(text, seal, {dialect: item})
        case "openai":
            return Thinking(text, extras={dialect: {"field": "reasoning_content"}})
        case _:
            return Thinking(text, extras={dialect: {}})


@st.composite
def transcripts(draw: DrawFn, material: Material | None = None) -> Transcript:
    """Return valid transcripts: turns with steps, parallel calls, results, media and summaries."""
    made_of = material or Material()
    messages: list[Message] = []
    if draw(st.booleans()):
        messages.append(Message(Role.SYSTEM, (Text(draw(sentences())),)))
    if made_of.has_summaries:
        messages += draw(_summary())
    count = draw(st.integers(1, made_of.turns))
    for turn in range(count):
        messages.append(draw(_user()))
        for step in range(draw(st.integers(0, made_of.steps))):
            messages += draw(_step(made_of, f"{turn}-{step}"))
        if draw(st.booleans()):
            messages.append(Message(Role.ASSISTANT, (Text(draw(words())),)))
    if made_of.has_open_calls and draw(st.booleans()):
        call, *_ = draw(_step(made_of, "last"))
        messages.append(call)
    return tuple(messages)


@st.composite
def _user(draw: DrawFn) -> Message:
    match draw(st.integers(0, 7)):
        case 0:
            return Message(Role.USER, (Recalled(draw(words())), Text(draw(words()))))
        case 1:
            pass
        case _:
            return Message(Role.USER, (Text(draw(words())),))
    return Message(Role.USER, (Text(draw(sentences())), draw(_media())), "parts")


@st.composite
def _summary(draw: DrawFn) -> list[Message]:
    """Return no summary, one alone, or one that shares a message with a user's words."""
    record = Summary(f"record {draw(words())}", draw(st.sampled_from(("holdfast", "hermes"))))
    match draw(st.integers(0, 4)):
        case 0:
            return [Message(Role.USER, (record,), synthetic=Synthetic.SUMMARY)]
        case 1:
            return [Message(Role.USER, (record, Text(draw(words()))))]
        case 2:
            opening = Message(Role.USER, (Text(draw(sentences())),))
            return [opening, Message(Role.ASSISTANT, (record,), synthetic=Synthetic.SUMMARY)]
        case _:
            return []


@st.composite
def _media(draw: DrawFn) -> Media:
    if draw(st.booleans()):
        return Media("image", "image/png", _PIXEL)
    return Media("image", url="https://example.org/a.png")


@st.composite
def _step(draw: DrawFn, material: Material, mark: str) -> list[Message]:
    """Return an assistant message with calls, and one tool message for each result."""
    parts: list[Part] = []
    if draw(st.booleans()):
        parts.append(draw(thinking(material.dialect)))
    if draw(st.booleans()):
        parts.append(Text(draw(sentences())))
    calls = [
        ToolCall(f"call_{mark}_{index}", draw(st.sampled_from(_NAMES)), draw(arguments()))
        for index in range(draw(st.integers(1, 3)))
    ]
    results = [draw(_result(material, call)) for call in calls]
    return [Message(Role.ASSISTANT, (*parts, *calls)), *results]


@st.composite
def _result(draw: DrawFn, material: Material, call: ToolCall) -> Message:
    is_error = material.has_errors and draw(st.booleans())
    content: tuple[Content, ...] = (Text(draw(words())),)
    if not draw(st.integers(0, 5)):
        content = (Text(draw(sentences())), draw(_media()))
        result = ToolResult(call.id, content, is_error, form="parts")
        return Message(Role.TOOL, (result,))
    return Message(Role.TOOL, (ToolResult(call.id, content, is_error),))
