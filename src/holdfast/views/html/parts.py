"""The parts of a message as markup: words open, everything that machines said folded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never, cast

from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.transcript.toolkit import fields_of
from holdfast.views.html.prose import prose
from holdfast.views.html.text import escaped, line_of, media_shown, preformatted
from holdfast.views.messages import sealed
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.transcript import Part

__all__ = ["folded", "part_shown", "summary_shown"]

_WRITERS = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "hermes": "Hermes",
    "openclaw": "OpenClaw",
    "openhands": "OpenHands",
    "pi": "Pi",
}
_PREVIEW = 140
_LONG = 8_000
"""Characters from which on words are folded as well: a pasted file is not what was said."""


def part_shown(part: Part, *, folds: bool = False) -> str:
    """Return one part of a message; one that folds shows its words only when asked."""
    match part:
        case Text(text):
            is_folded = folds or len(text) > _LONG
            return _folded_words("text", text) if is_folded else prose(text)
        case Thinking():
            if not part.text.strip():
                return '<p class="aside">[thinking that only its provider can read]</p>'
            heading = _heading("thinking", counted(_lines(part.text), "line"), part.text)
            return folded("thinking", heading, prose(part.text))
        case ToolCall():
            fields = fields_of(part.arguments)
            telling = next(
                (value for value in fields.values() if isinstance(value, str) and value), ""
            )
            preview = line_of(telling or part.arguments, _PREVIEW)
            heading = (
                f'<span class="label">call</span> <code>{line_of(part.name, _PREVIEW)}</code> '
                f'<span class="preview" dir="auto">{preview}</span>'
            )
            return folded("call", heading, _arguments(fields) or preformatted(part.arguments))
        case ToolResult():
            return _result(part)
        case Media():
            return media_shown(part)
        case Summary():
            return summary_shown(part)
        case Recalled(text):
            return _folded_words("recalled from memory", text)
        case Opaque():
            words = line_of(sealed(part), _PREVIEW)
            return prose(part.readable) or f'<p class="aside">[{words}]</p>'
        case _:
            assert_never(part)


def summary_shown(summary: Summary) -> str:
    """Return a summary, saying whose it is."""
    writer = _WRITERS.get(summary.origin, summary.origin)
    label = f"summary by {writer}" if writer else "summary"
    heading = f'<span class="label">{escaped(label)}</span>'
    return folded("summary", heading, prose(summary.text), is_open=True)


def folded(kind: str, heading: str, content: str, *, is_open: bool = False) -> str:
    """Return content behind a heading that opens it; heading and content are markup already."""
    state = " open" if is_open else ""
    return f'<details class="{kind}"{state}><summary>{heading}</summary>{content}</details>'


def _folded_words(label: str, text: str) -> str:
    return folded("long", _heading(label, counted(_lines(text), "line"), text), prose(text))


def _arguments(fields: Mapping[str, object]) -> str:
    """Return each argument under its name; nothing when there are none or they are too deep."""
    try:
        shown = [
            f"<dt>{line_of(name, _PREVIEW)}</dt><dd>{preformatted(_value(value))}</dd>"
            for name, value in fields.items()
        ]
    except RecursionError:
        return ""
    return f"<dl>{''.join(shown)}</dl>" if shown else ""


def _value(value: object) -> str:
    """Return strings as they are, a list of them line by line, and all else as JSON."""
    if isinstance(value, str):
        return value
    items = cast("list[object]", value) if isinstance(value, list) else []
    lines = [each for each in items if isinstance(each, str)]
    if lines and len(lines) == len(items):
        return "\n".join(lines)
    return json.dumps(value, ensure_ascii=False, indent=2)


def _result(part: ToolResult) -> str:
    pieces: list[str] = []
    images = 0
    for piece in part.content:
        match piece:
            case Text(text):
                pieces.append(preformatted(text))
            case Media():
                images += 1
                pieces.append(media_shown(piece))
            case Opaque():
                pieces.append(part_shown(piece))
            case _:
                assert_never(piece)
    text = part.text
    size = [counted(_lines(text), "line")] if text else []
    size += [counted(images, "attachment")] if images else []
    label = "error" if part.is_error else "result"
    heading = _heading(label, ", ".join(size) or "empty", text, part.name)
    # An image is there to be seen.
    return folded(label, heading, "".join(pieces), is_open=bool(images))


def _heading(label: str, size: str, text: str, name: str = "") -> str:
    of = f" <code>{line_of(name, _PREVIEW)}</code>" if name else ""
    return (
        f'<span class="label">{label}</span>{of} <span class="size">{size}</span> '
        f'<span class="preview" dir="auto">{line_of(text, _PREVIEW)}</span>'
    )


def _lines(text: str) -> int:
    return text.strip("\n").count("\n") + 1
