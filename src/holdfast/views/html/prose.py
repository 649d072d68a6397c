"""What people and models write, as markup: their Markdown is rendered, their HTML only shown."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from holdfast.views.html.text import escaped, preformatted, web_address
from holdfast.views.words import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    _Rule = Callable[[object, Sequence[Token], int, object, object], str]

__all__ = ["prose"]

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
    rendered = _rendered(words) if len(words) <= _LONGEST else None
    if rendered is None:
        return f'<div class="words plain" dir="auto">{escaped(words)}</div>'
    return f'<div class="words" dir="auto">{rendered}</div>'


def _rendered(text: str) -> str | None:
    parser = _parser()
    try:
        tokens = parser.parse(text)
        missing = Counter(_WORD.findall(text)) - Counter(_shown_words(tokens))
        return None if missing else parser.renderer.render(tokens, parser.options, {})
    except RecursionError:
        return None


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
        "heading_open": _heading,
        "heading_close": _heading,
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


def _heading(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
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
