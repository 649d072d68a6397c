"""The parts of a message as markup: words open, everything that machines said folded.

Markdown that people and models write is rendered, their HTML only shown: whatever stands in a text,
a browser obeys none of it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from functools import cache
from html import escape as escape_markup
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
from holdfast.views.messages import sealed
from holdfast.views.words import counted, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from holdfast.transcript import Part

    _Rule = Callable[[object, Sequence[Token], int, object, object], str]

_WEB = re.compile(r"https?://[^\s\"'<>\\^`{|}]{1,2000}", re.IGNORECASE)
_ENCODED = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_INLINE = re.compile(r"data:[^,]{0,100};base64,", re.IGNORECASE)
# What the bytes say is shown, not what somebody says they are. Drawings made of markup are left
# out: they are documents of their own.
_BEGINNINGS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
}
_WIDEST = 120


def escaped(text: str) -> str:
    """Return the text as words of a page, with every sign in it visible."""
    return escape_markup(visible(text))


def attribute(text: str) -> str:
    """Return the text as the value of an attribute, on one line and without its quotes."""
    return escaped(" ".join(text.split()))


def line_of(text: str, width: int) -> str:
    """Return the beginning of the first line that says something, as words of a page."""
    for line in text[: 20 * width].splitlines():
        words = " ".join(line.split())
        if words:
            return escaped(words if len(words) <= width else words[: width - 1] + "…")
    return ""


def web_address(text: str) -> str:
    """Return an address that is safe to follow, as the value of an attribute; "" for any other."""
    return escaped(text) if _WEB.fullmatch(text) else ""


def preformatted(text: str) -> str:
    """Return the text line by line as it is, in letters of one width."""
    # The first line break after the tag belongs to the tag, as browsers read it.
    return f'<pre dir="auto">\n{escaped(text)}</pre>'


def media_shown(media: Media) -> str:
    """Return an image as such, and what is no image, or is elsewhere, as words about it."""
    inline = _INLINE.match(media.url)
    content = media.data or (media.url[inline.end() :] if inline else "")
    content = "".join(content.split()) if any(map(str.isspace, content)) else content
    kind = next((name for start, name in _BEGINNINGS.items() if content.startswith(start)), "")
    if media.kind == "image" and kind and _ENCODED.fullmatch(content):
        source = f"data:{kind};base64,{content}"
        return f'<img src="{source}" alt="image of the conversation" loading="lazy">'
    address = web_address(media.url)
    if address:
        named = line_of(media.url, _WIDEST)
        link = f'<a href="{address}" rel="noopener noreferrer nofollow">{named}</a>'
        return f'<p class="aside">{escaped(media.kind)} at {link}</p>'
    words = [media.kind, media.media_type]
    if content:
        words.append(f"of {len(content) * 3 // 4:,} bytes, not shown")
    elif media.url:
        words += ["at", media.url]
    return f'<p class="aside">{line_of(" ".join(filter(None, words)), _WIDEST)}</p>'


_LONGEST = 200_000
"""Characters up to which Markdown is looked for; what is longer was pasted, not written."""
_DEEPEST = 40
_WORD = re.compile(r"[^\W_]+")
_ALIGNED = re.compile(r"text-align:(left|center|right)")
_OUR_HEADINGS = 3
"""Levels of headings that the page itself has."""


def prose(text: str) -> str:
    """Return the text as markup, its Markdown rendered.

    HTML in it stays words, links lead to web addresses alone, and nothing is fetched. What
    Markdown would leave out, such as a cell too many in a row, is no reason to lose a word: such a
    text is shown as it was written.
    """
    words = visible(text).strip("\n")
    if not words.strip():
        return ""
    if len(words) <= _LONGEST:
        parser = _parser()
        with suppress(RecursionError):
            tokens = parser.parse(words)
            if not Counter(_WORD.findall(words)) - Counter(_shown_words(tokens)):
                rendered = parser.renderer.render(tokens, parser.options, {})
                return f'<div class="words" dir="auto">{rendered}</div>'
    return f'<div class="words plain" dir="auto">{escaped(words)}</div>'


def _shown_words(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        if token.children is not None:
            yield from _shown_words(token.children)
            held = (str(token.attrs.get("src", "")),) if token.type == "image" else ()
        else:
            held = (token.content, token.info, *map(str, token.attrs.values()))
        for text in held:
            yield from _WORD.findall(text)


@cache
def _parser() -> MarkdownIt:
    # Imported only here: whoever exports no page needs none of it.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    # References and entities would take words out of sight.
    parser.enable(["table", "strikethrough"]).disable(["reference", "entity"])
    parser.validateLink = lambda url: bool(web_address(url))
    parser.normalizeLink = lambda url: url
    parser.normalizeLinkText = lambda link: link
    rules: dict[str, _Rule] = {
        "fence": _code,
        "code_block": _code,
        "image": _image,
        "link_open": _link,
        "heading_open": _lowered_heading,
        "heading_close": _lowered_heading,
        "list_item_open": _item,
        "th_open": _cell,
        "td_open": _cell,
        "softbreak": _line_break,
        "hardbreak": _line_break,
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


def _line_break(*_: object) -> str:
    return "\n"


def _code(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    token = tokens[index]
    language = f'<p class="language">{escaped(token.info.strip())}</p>' if token.info else ""
    return language + preformatted(token.content.removesuffix("\n")) + "\n"


def _image(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    token = tokens[index]
    address = escaped(str(token.attrs["src"]))
    words = escaped(token.content) or "image"
    return f'<a href="{address}" rel="noopener noreferrer nofollow">{words}</a>'


def _link(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    attributes = {**tokens[index].attrs, "rel": "noopener noreferrer nofollow"}
    written = (f'{name}="{escaped(str(value))}"' for name, value in attributes.items())
    return f"<a {' '.join(written)}>"


def _lowered_heading(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    """Keep the headings of a message below those of the page."""
    token = tokens[index]
    level = min(int(token.tag[1:]) + _OUR_HEADINGS, 6)
    return f"<h{level}>" if token.nesting > 0 else f"</h{level}>\n"


def _item(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    """Number the items of a list as they were numbered."""
    number = tokens[index].info
    return f'<li value="{int(number)}">' if number else "<li>"


def _cell(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    """Align a cell by a class: a page with a policy has no styles in attributes."""
    token = tokens[index]
    aligned = _ALIGNED.fullmatch(str(token.attrs.get("style", "")))
    return f'<{token.tag} class="{aligned[1]}">' if aligned else f"<{token.tag}>"


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
    """Return each argument under its name; "" when there are none or they are too deep."""
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
