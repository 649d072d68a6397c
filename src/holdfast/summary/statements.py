"""Sentences, and the statements that a record can make of them, with what each is worth.

What a unit is worth per token follows from what it holds: names, numbers and words that are rare
in this conversation. Nothing here knows a language.

Everything that turns and earlier records tell becomes a statement with a place in the record and a
worth per token, which is less with age. The same statements are what the audit asks for afterwards.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COLONS = (":", "\uff1a")
"""How words end that only announce what follows."""
_WIDEST, _CODE, _INLINE, _SHOWN = 420, 480, 90, 240
"""Characters of a unit, of a block of code that is one, of code in words, and of a short block."""
_LAST_WORD, _SHORT_WORD = 8, 3
_LEAD, _FEW = 30, 3
"""Characters and words of a beginning that is too short to be told alone."""
_OF_CODE = 0.3
"""What a block of code holds: names by the dozen, most of which its file has."""
_SHORT, _READ = 4_000, 24_000
"""Characters of a text whose units are remembered, and those of one text that are looked at."""

_END = re.compile(r"(?<=[.!?])[\"')\]*`]{0,3}\s+(?=[^a-z\s])|(?<=[。\uff01\uff1f])(?!$)")
# What looks like the end of a sentence and is a title, an initial, a day or a number in a list.
_GOES_ON = re.compile(
    r"(?:^|[\s(])(?:\d{1,3}|[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Sr|Sra|Dra|Hr|Fr|Mme|vs|ca"
    r"|Inc|Ltd|Jr|e\.g|i\.e|z\.B|bzw|etc)\.$|/\.\.\.$"
)
# The number of an item stays: users answer with it.
_ITEM = re.compile(r"^\s{0,24}[-*•+]\s+")
# Where a link leads on this machine is in its words mostly, and costs more than they do.
_LINK = re.compile(r"\[([^\]\n]{1,120})\]\((?:/|file:|\.{1,2}/)[^)\s]{1,300}\)")
_WRAP = re.compile(
    r"\n(?<=[^\n]{60}\n)(?<![\s.!?:;|>{}]\n)"
    r"(?=[ \t]{0,12}(?![-*+•#|>]|\d{1,3}[.)]|```|~~~)(\S{1,60}))"
)
"""Where somebody may have wrapped a line in the middle of a sentence, and the word after it."""
_PLAIN = re.compile(r"[a-z]{1,20}(?:-[a-z]{1,20})?(?:[,']|$)")
_BEGINS = re.compile(r"\s*(?:[-*+•#|>]|\d{1,3}[.)]|```|~~~|$)")
"""How a line begins that goes on with no other, and a plain word."""
_COLUMNS, _AROUND, _FILLED = 200, 3_000, 0.75
"""The widest line of a text that was wrapped, how far around a line its paragraph is read, and how
many of its lines have to be full."""
_RULES = "|:+=_*-"
_RULE = re.compile(rf"[\s{_RULES}]*")
_TAG = re.compile(r"</?[A-Za-z][\w-]{0,40}>")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f]")
_WORD = re.compile(r"[^\W_][\w./@#:%$€£+-]*", re.UNICODE)
_NAME = re.compile(r"\d|_|\w[./@#:]\w|[a-z][A-Z]|[A-Z]{2}")


def units(text: str) -> list[str]:
    """Return the sentences, list items, table rows and blocks of code of a text, in order.

    A line that only announces what follows ("Changes:") is joined to it. Marks of emphasis and
    bullets are layout and left out; a unit stands on one line.
    """
    # A message is read for its rules, its asks, its story: the same text several times.
    return list(_remembered(text) if len(text) <= _SHORT else _units(text))


def _units(text: str) -> tuple[str, ...]:
    found: list[str] = []
    announced = ""
    in_table = False
    for block in _blocks(text):
        line = " ".join(block.replace("**", "").split())
        if not line or (line[0] in _RULES and _RULE.fullmatch(line)):
            if line.startswith("|") and found and " | " in found[-1]:
                # The head of a table says what its rows are, and nothing without them.
                announced, in_table = f"{found.pop()}:", True
            continue
        if line[0] == "<" and _TAG.fullmatch(line):
            continue
        is_row = in_table and line.startswith("|")
        in_table = is_row
        heading = line.startswith("#") or (line.endswith(COLONS) and len(line) < 90)
        line = line.lstrip("#>|").strip(" |")
        if heading:
            announced = f"{announced} {line}".strip()
            continue
        if is_code(line):
            # What a short block shows belongs to the words that announce it.
            is_short = announced and len(line) <= _SHOWN
            found += [f"{announced} {line}"] if is_short else [announced, line][not announced :]
            announced = ""
            continue
        parts = list(_sentences(line))
        if is_row and not announced and len(parts) == 1:
            # A row without its head tells little: a small table is one unit.
            if len(found[-1]) + len(line) < _WIDEST:
                found[-1] += f"; {line}"
                continue
            in_table = False
        if parts and announced:
            joint = " " if announced.endswith(COLONS) else ": "
            parts[0] = f"{announced}{joint}{parts[0]}"
            announced = ""
        found += parts
    return (*found, announced) if announced else tuple(found)


_remembered = lru_cache(maxsize=2048)(_units)


def led(found: list[str]) -> list[str]:
    """Return units with a short beginning ("Done.", "Good catch!") joined to what it begins."""
    if len(found) < 2 or len(found[0]) >= _LEAD or is_code(found[1]):
        return found
    is_short = found[0].count(" ") < _FEW and len(_DENSE.findall(found[0])) <= _FEW
    return [f"{found[0]} {found[1]}", *found[2:]] if is_short else found


def is_dense(text: str) -> bool:
    """Say whether a text is in a script that does not part its words."""
    return not text.isascii() and _DENSE.search(text) is not None


def is_code(unit: str) -> bool:
    """Say whether a unit is a block of code rather than words."""
    return len(unit) > _INLINE and unit[0] == unit[-1] == "`"


def clip_words(text: str, width: int) -> str:
    """Return the text on one line of at most `width` characters, cut between words."""
    line = " ".join(text[: width * 6].split())
    if len(line) <= width:
        return line
    cut = line[: max(width - 1, 1)]
    if not line[len(cut)].isspace() and not _DENSE.search(line, len(cut) - 1, len(cut) + 1):
        # A name that is longer than all the room is left out rather than halved.
        cut = cut[: cut.rfind(" ") + 1]
    return f"{cut.rstrip(' ,;:-')}…"


def _blocks(text: str) -> Iterator[str]:
    """Yield lines, and blocks of code as one as far as they are short."""
    if len(text) > _READ:
        front = text[: _READ * 2 // 3].rpartition("\n")
        back = text[-_READ // 3 :].partition("\n")
        text = f"{front[0] or front[2]}\n\n{back[2] or back[0]}"
    text = _WRAP.sub(_joint, text)
    fence, held, left = "", list[str](), _CODE
    for line in (_LINK.sub(r"\1", text) if "](" in text else text).split("\n"):
        mark = line.strip()
        if fence and not mark.startswith(fence):
            left -= len(line) + 1
            held += line.split() if left >= 0 else []
        elif fence:
            if held:
                yield f"`{' '.join(held)}`"
            fence, held, left = "", [], _CODE
        elif mark.startswith(("```", "~~~")):
            fence = mark[:3]
        else:
            yield (_ITEM.sub("", line, count=1) or line) if mark[:1] in "-*•+" else line
    if held:
        yield f"`{' '.join(held)}`"


def _joint(found: re.Match[str]) -> str:
    """Return a blank for the end of a line that was wrapped, and the end of any other as it is.

    A line was wrapped where the word after it would have made it the widest of its paragraph. What
    does not go on with a small letter needs more lines of which that is true than of which it is
    not: the lines of a list may be of any length.
    """
    text, word = found.string, found[1]
    if _PLAIN.match(word):
        return " "
    starts = max(text.rfind("\n\n", max(found.start() - _AROUND, 0), found.start()), 0)
    ends = text.find("\n\n", found.end(), found.end() + _AROUND)
    lines = text[starts : ends if ends > 0 else found.end() + _AROUND].strip("\n").split("\n")
    widest = max(len(line.rstrip()) for line in lines)
    width = found.start() - text.rfind("\n", 0, found.start()) - 1
    if widest > _COLUMNS or width + 1 + len(word) <= widest or is_dense(word):
        return found[0]
    full = [
        len(one.rstrip()) + 1 + len(after.split(maxsplit=1)[0]) > widest
        for one, after in pairwise(lines)
        if not _BEGINS.match(after)
    ]
    needed = 1 if word[0].islower() else 2
    return " " if sum(full) >= max(needed, _FILLED * len(full)) else found[0]


def _sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line; one that is too long is parted between words."""
    start = 0
    for end in (*_END.finditer(line), None):
        stop, after = end.span() if end else (len(line), len(line))
        # Only the last word is looked at: a text of nothing but initials would be read for ever.
        if end and _GOES_ON.search(line[max(start, stop - _LAST_WORD) : stop]):
            continue
        if part := line[start:stop].strip():
            start = after
        while len(part) > _WIDEST:
            cut = max(part.rfind(mark, _WIDEST // 2, _WIDEST) for mark in (" ", "\uff0c", "、"))
            if cut < 0:
                # One endless word is a blob: no part of it says anything.
                first, part = part[:_WIDEST].rpartition(" ")[0], part[_WIDEST:].partition(" ")[2]
            else:
                first, part = part[: cut + 1].rstrip(), part[cut + 1 :]
            part = part.strip()
            if first:
                yield first
        if part:
            yield part


@lru_cache(maxsize=16_384)
def telling_words(text: str) -> frozenset[str]:
    """Return the words of a text that say something: numbers, names and all but the short ones."""
    words = _WORD.findall(text)
    return frozenset(
        [word.casefold() for word in words if len(word) > _SHORT_WORD or _NAME.search(word)]
    )


class Rarity:
    """How rare words are in one conversation, by how many of its units they stand in."""

    def __init__(self, told: Iterable[str]) -> None:
        """Count the words of the units."""
        self._known: dict[str, tuple[str, float]] = {}
        """Words, each in one case and with its worth."""
        # Letters of other scripts may become several in one case, and not all are those of words.
        words = (
            set(_WORD.findall(unit.lower()))
            if unit.isascii()
            else set(map(str.casefold, _WORD.findall(unit)))
            for unit in told
        )
        self._found = Counter(chain.from_iterable(words))

    def density(self, unit: str) -> float:
        """Return what a unit holds per word: names and numbers count most, then rare words."""
        words = _WORD.findall(unit)
        if not words:
            return 0.0
        if is_code(unit):
            return _OF_CODE
        if is_dense(unit):
            names = sum(1 for word in words if _NAME.search(word))
            return min(0.55 + 2.0 * names / (len(unit) / 2 + 3), 1.3)
        # Every sentence begins with a capital letter, and not with a name.
        words[0] = words[0][0].lower() + words[0][1:]
        held, seen, known = 0.0, set[str](), self._known
        for word in words:
            if (found := known.get(word)) is None:
                folded = word.casefold()
                times = self._found[folded]
                if _NAME.search(word):
                    worth = 1.8 if times <= 3 else 1.1 if times <= 8 else 0.5
                elif word[0].isupper() and len(word) > 1:
                    worth = 1.4 if times <= 12 else 0.8
                else:
                    worth = 1.0 if times <= 2 else 0.5 if times <= 6 else 0.1
                    worth *= len(word) > 3
                known[word] = found = folded, worth
            if found[0] not in seen:
                seen.add(found[0])
                held += found[1]
        return min(held / (len(words) + 3), 1.3)


MORE = "+"
"""The label of what a change contained, which follows the change itself."""
_OF_MODEL = 30.0
"""What a model wrote of the turns goes before what the turns tell themselves, but for the state."""


class StatementKind(StrEnum):
    """What a statement is, what it is worth per token, and how fast that falls with age."""

    _value_: str
    worth: float
    fading: float

    def __new__(cls, name: str, worth: float, fading: float) -> StatementKind:
        """Make a kind whose value is its name."""
        kind = str.__new__(cls, name)
        kind._value_, kind.worth, kind.fading = name, worth, fading
        return kind

    ASK = "ask", 9.0, 0.35  # what a user asked for or told, in their words
    CONSTRAINT = "constraint", 24.0, 0.05  # a rule or a preference that a user stated
    VALUE = "value", 14.0, 0.1  # a user's own statement of a name, a number, a date
    DECISION = "decision", 13.0, 0.3  # what was settled, with its reason
    RESULT = "result", 12.0, 0.4  # how a turn, a test or something else ended
    CHANGE = "change", 3.5, 0.6  # an action that changed something
    OPEN = "open", 60.0, 0.0  # the task, a plan item, a blocker, an ask without an answer
    STATE = "state", 40.0, 0.0  # what is true now: where, on what branch, which files
    TOLD = "told", 8.0, 0.1  # what somebody told in a conversation without work
    REPLY = "reply", 8.5, 0.5  # more of the words that concluded a turn
    DETAIL = "detail", 2.0, 0.8  # what a change contained, or a report said
    REMARK = "remark", 3.0, 0.8  # what the assistant said on its way
    LOOK = "look", 1.0, 1.2  # an action that only looked: a file read, a search, a listing


NOW = frozenset(
    {StatementKind.OPEN, StatementKind.STATE, StatementKind.CONSTRAINT, StatementKind.VALUE}
)
"""The kinds that tell what holds now, which a record tells before anything else."""


class Origin(StrEnum):
    """Where a statement comes from."""

    TURNS = "turns"
    EARLIER = "earlier"
    """A record or another agent's summary that stood in the transcript."""
    MODEL = "model"
    """The summarizer's answer for these turns."""


class Statement(Struct, frozen=True, gc=False):
    """One thing that a record can say."""

    kind: StatementKind
    text: str
    section: str = "actions"
    entry: int = 0
    """The entry it belongs to: the number of its turn."""
    order: int = 0
    """Its place among the statements of its entry."""
    density: float = 1.0
    """How much it holds per word, where 1 is a sentence full of names."""
    label: str = ""
    """How it is introduced in its entry: who said it, or which tool did it."""
    origin: Origin = Origin.TURNS
    message: int = -1
    """The message it was taken from, where it comes from turns."""
    is_head: bool = False
    """Whether nothing of its entry is told without it."""

    def weighted(self, factor: float) -> Statement:
        """Return it with so many times the worth."""
        return replace(self, density=self.density * factor)

    def worth(self, age: float) -> float:
        """Return what it is worth per token, by how many times the record's size was said since."""
        if self.origin is Origin.MODEL:
            return _OF_MODEL * self.density
        return self.kind.worth * self.density * (1.0 + age) ** -self.kind.fading
