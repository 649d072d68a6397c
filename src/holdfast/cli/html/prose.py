"""Words that people and models wrote: as they stand, with blocks of code set apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.cli.html.escape import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["preformatted", "prose"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`\n]*")


def prose(text: str) -> str:
    """Return the text as paragraphs, and what stands in fences as blocks of code.

    Nothing else of Markdown is interpreted: its signs are readable as they are.
    """
    if "```" not in text and "~~~" not in text:
        return _words(text)
    return "".join(_blocks(text.splitlines()))


def preformatted(text: str) -> str:
    """Return the text line by line as it is, in letters of one width."""
    # The first line break after the tag belongs to the tag, as browsers read it.
    return f'<pre dir="auto">\n{escaped(text)}</pre>'


def _blocks(lines: list[str]) -> Iterator[str]:
    fence = ""
    found: list[str] = []
    for line in lines:
        opening = _FENCE.fullmatch(line)
        if fence:
            mark = line.strip()
            if mark.startswith(fence) and not mark.strip(fence[0]):
                yield preformatted("\n".join(found))
                fence, found = "", []
                continue
        elif opening:
            yield _words("\n".join(found))
            fence, found = opening[1], []
            continue
        found.append(line)
    rest = "\n".join(found)
    yield preformatted(rest) if fence else _words(rest)


def _words(text: str) -> str:
    words = text.strip("\n")
    return f'<div class="words" dir="auto">{escaped(words)}</div>' if words.strip() else ""
