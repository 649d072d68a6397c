"""Rules of project files that agents put into a conversation in their user's name.

What AGENTS.md, CLAUDE.md or GEMINI.md say is no turn: it holds until the client tells it otherwise.
A compaction takes it out of what is folded, word for word, and writes it into a block of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.transcript.blocks import is_printed, words_typed
from holdfast.transcript.parts import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript.parts import Part

_OPEN, _CLOSE = "<project_rules>", "</project_rules>"
_NOTE = (
    "[Rules of this project, word for word as the agent put them into the conversation. They hold "
    "now; the user did not type them.]"
)
_FILE = r"[^\n\"<>]{1,300}"
_CLOSED = tuple(
    (re.compile(opening, re.MULTILINE), closing)
    for opening, closing in (
        (rf"^# AGENTS\.md instructions for (?P<source>{_FILE})\n", "\n</INSTRUCTIONS>"),
        (rf"^--- Context from: (?P<source>{_FILE}?) ---\n", "\n--- End of Context from: {} ---"),
        (r"^<(?P<source>user_instructions)>", "</user_instructions>"),
        (rf"^<project_instructions path=\"(?P<source>{_FILE})\">", "</project_instructions>"),
    )
)
"""How the rules of one file begin and how they are closed, agent by agent."""
_OPEN_ENDED = tuple(
    re.compile(pattern, re.MULTILINE | re.DOTALL)
    for pattern in (
        r"^Contents of (?P<source>[^\n\"<>(]{1,300}?\.mdc?)(?: \([^\n]{0,200}\))?:\n.*?"
        r"(?=\nContents of |\n+# (?:currentDate|userEmail|gitStatus)\b"
        r"|\n\s+IMPORTANT: this context may|\n</system-reminder>|\Z)",
        rf"^Instructions from: (?P<source>{_FILE})\n.*?"
        r"(?=\nInstructions from: |\n</system-reminder>|\Z)",
        rf"^<!-- From: (?P<source>{_FILE}?) -->\n.*?"
        r"(?=\n<!-- From: |\n`{3,}\s*(?:\n|\Z)|\n</system-reminder>|\Z)",
    )
)
"""How those begin that end where something else does."""
_LISTED = re.compile(r"\A\s*# Project Context\n")
_LISTED_FILE = re.compile(
    r"^## (?P<source>[^\n\"<>]{0,300}\.mdc?)\n.*?(?=\n## [^\n]{0,300}\.mdc?\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
_HINTS = ("AGENTS.md", "Context from: ", "Contents of ", "Instructions from: ", "<!-- From: ")
_TAGGED_HINTS = ("user_instructions>", "<project_instructions", "# Project Context")
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_BLOCK = re.compile(r'<rules from="([^"\n]{1,300})">\n(.*?)\n</rules>', re.DOTALL)
_LEFT_OUT = re.compile(r"^\[Of (.{1,300}) there is no room for: (.{1,2000})\]$", re.MULTILINE)
_TAG = re.compile(r"<(?=\\*/(?:project_)?rules>)")
_ESCAPED_TAG = re.compile(r"<\\(?=\\*/(?:project_)?rules>)")
_WIDEST = 60
_UNLISTED = str.maketrans("[];", "(),")
"""Signs that would end the list of what was left out, or an entry of it."""


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """What one file says."""

    source: str
    text: str
    """Word for word, with the line by which the agent introduces it."""
    left_out: tuple[str, ...] = ()
    """The headings of what there was no room for."""


def is_rules(message: Message) -> bool:
    """Say whether a message is a block of rules and nothing else."""
    return message.role is Role.USER and len(message.parts) == 1 and _is_block(message.parts[0])


def rules_in(message: Message) -> Iterator[ProjectRules]:
    """Yield the rules of project files in a message.

    A user's own words are none, and neither is what a program printed: whoever wrote a file that
    an agent looked at could give it rules that stay.
    """
    if message.role is not Role.USER or message.synthetic is not None:
        return
    for part in message.parts:
        if not isinstance(part, Text) or is_printed(part.text):
            continue
        if _is_block(part):
            left = {file: tuple(names.split("; ")) for file, names in _LEFT_OUT.findall(part.text)}
            for source, words in _BLOCK.findall(part.text):
                yield ProjectRules(source, _ESCAPED_TAG.sub("<", words), left.get(source, ()))
        elif any(each in part.text for each in (*_HINTS, *_TAGGED_HINTS)):
            for piece in _by_program(part.text):
                yield from _found(piece)


def blocks_in(message: Message) -> tuple[Part, ...]:
    """Return the blocks of rules in a message, which `rules_block` wrote."""
    return tuple([part for part in message.parts if type(part) is Text and _is_block(part)])


def rules_block(rules: Sequence[ProjectRules]) -> Message:
    """Return the rules as a message of its own, which is never merged into a text."""
    lines = [_OPEN, _NOTE]
    for each in rules:
        words = _TAG.sub(r"<\\", each.text)
        lines.append(f'<rules from="{each.source}">\n{words}\n</rules>')
        if each.left_out:
            lines.append(f"[Of {each.source} there is no room for: {'; '.join(each.left_out)}]")
    return Message(Role.USER, (Text("\n".join([*lines, _CLOSE])),), form="parts")


def fitted_rules(
    rules: Sequence[ProjectRules], most: int, count: Callable[[str], int]
) -> tuple[ProjectRules, ...]:
    """Return as many rules as weigh no more than so much: whole files, then whole sections."""
    kept: list[ProjectRules] = []
    for each in rules:
        cost = count(each.text)
        if cost <= most:
            kept.append(each)
        else:
            starts = sorted({0, *(found.start() for found in _HEADING.finditer(each.text))})
            ends = [*starts[1:], len(each.text)]
            sections = [each.text[at:end] for at, end in zip(starts, ends, strict=True)]
            # Sections in their order, as far as there is room; the rest is named.
            taken, costs = 0, 0
            while taken < len(sections) and costs + count(sections[taken]) <= most:
                costs += count(sections[taken])
                taken += 1
            firsts = (section.lstrip().partition("\n")[0] for section in sections[taken:])
            left = (line.translate(_UNLISTED)[:_WIDEST] for line in firsts)
            text, cost = "".join(sections[:taken]).rstrip(), costs
            kept.append(ProjectRules(each.source, text, (*left, *each.left_out)))
        most -= cost
    return tuple(kept)


def _is_block(part: Part) -> bool:
    return isinstance(part, Text) and part.text.startswith(_OPEN) and part.text.endswith(_CLOSE)


def _by_program(text: str) -> Iterator[str]:
    """Yield what stands around the words that somebody typed, or all where nobody did."""
    typed = words_typed(text)
    if not typed:
        yield text
        return
    before, _, after = text.partition(typed)
    yield from filter(None, (before.strip(), after.strip()))


def _found(text: str) -> Iterator[ProjectRules]:
    if _LISTED.match(text):
        shapes = (_LISTED_FILE,)
    else:
        shapes = _OPEN_ENDED
        yield from _closed(text)
    for shape in shapes:
        for found in shape.finditer(text):
            yield ProjectRules(found["source"].strip(), found[0].rstrip())


def _closed(text: str) -> Iterator[ProjectRules]:
    for opening, closing in _CLOSED:
        at = 0
        while found := opening.search(text, at):
            # What is not closed here is not closed further on: a long text is read once.
            closed = closing.format(found["source"])
            end = text.find(closed, found.end() - 1)
            if end < 0:
                break
            at = end + len(closed)
            yield ProjectRules(found["source"].strip(), text[found.start() : at])
