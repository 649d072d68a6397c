"""Sentences, and the statements that a record can make of them, with what each is worth.

What a unit is worth per token follows from what it holds: names, numbers and words that are rare
in this conversation. Nothing here knows a language.

Everything that turns and earlier records tell becomes a statement with a place in the record and a
worth per token, which is less with age. The same statements are what the audit asks for afterwards.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from holdfast.transcript.parts import quickly_made

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COLONS = (":", "\uff1a")
"""How words end that only announce what follows."""
_WIDEST = 420
"""Characters of a unit; a longer one is parted between words."""
_CODE = 480
"""Characters of a block of code that stays one unit."""
_INLINE, _SHOWN = 90, 240
_LAST_WORD = 8
_LEAD = 30
_FEW, _SHORT_WORD = 3, 3
_OF_CODE = 0.3
"""What a block of code holds: names by the dozen, most of which its file has."""
_SHORT = 4_000
"""Characters of a text whose units are remembered."""
_READ = 24_000
"""Characters of one text that are looked at, two thirds of them from its front."""

_END = re.compile(r"(?<=[.!?])[\"')\]*`]{0,3}\s+(?=[^a-z\s])|(?<=[。\uff01\uff1f])(?!$)")
# What looks like the end of a sentence and is a title, an initial, a day or a number in a list.
_GOES_ON = re.compile(
    r"(?:^|[\s(])(?:\d{1,3}|[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Sr|Sra|Dra|Hr|Fr|Mme|vs|ca"
    r"|Inc|Ltd|Jr|e\.g|i\.e|z\.B|bzw|etc)\.$|/\.\.\.$"
)
# The number of an item stays: users answer with it.
_BULLETS = ("-", "*", "•", "+")
_ITEM = re.compile(r"^\s{0,24}[-*•+]\s+")
# Where a link leads on this machine is in its words mostly, and costs more than they do.
_LINK = re.compile(r"\[([^\]\n]{1,120})\]\((?:/|file:|\.{1,2}/)[^)\s]{1,300}\)")
_WRAP, _WRAPPED = re.compile(r"(?<=[^\s.!?:|`>])\n(?=[ \t]{0,12}[a-z]{1,20}[ ,'])"), 60
"""Where a line goes on in the next one, and how long a line is that somebody wrapped."""
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
    read = _WRAP.sub(_unwrapped, _ends(text))
    for block in _blocks(_LINK.sub(r"\1", read) if "](" in read else read):
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
        parts = list(_parted(line))
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


def _unwrapped(end: re.Match[str]) -> str:
    """Return what stands for the end of a line: nothing but a blank where a sentence goes on."""
    is_long = end.start() - end.string.rfind("\n", 0, end.start()) > _WRAPPED
    return " " if is_long else "\n"


def led(found: list[str]) -> list[str]:
    """Return units with a short beginning ("Done.", "Good catch!") joined to what it begins."""
    if len(found) > 1 and _is_short(found[0]) and not is_code(found[1]):
        return [f"{found[0]} {found[1]}", *found[2:]]
    return found


def is_dense(text: str) -> bool:
    """Say whether a text is in a script that does not part its words."""
    return not text.isascii() and _DENSE.search(text) is not None


def _is_short(unit: str) -> bool:
    """Say whether a unit is too short to be told alone: a few words, or letters that are words."""
    return len(unit) < _LEAD and unit.count(" ") < _FEW and len(_DENSE.findall(unit)) <= _FEW


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


def _ends(text: str) -> str:
    if len(text) <= _READ:
        return text
    front = text[: _READ * 2 // 3].rpartition("\n")
    back = text[-_READ // 3 :].partition("\n")
    return f"{front[0] or front[2]}\n\n{back[2] or back[0]}"


def _blocks(text: str) -> Iterator[str]:
    """Yield lines, and blocks of code whole where they are short."""
    fence, held = "", list[str]()
    for line in text.split("\n"):
        mark = line.strip()
        if fence:
            if mark.startswith(fence):
                yield from _code(held)
                fence, held = "", []
            else:
                held.append(line)
        elif mark.startswith(("```", "~~~")):
            fence = mark[:3]
        else:
            yield (_ITEM.sub("", line, count=1) or line) if mark.startswith(_BULLETS) else line
    yield from _code(held)


def _code(lines: list[str]) -> Iterator[str]:
    kept: list[str] = []
    left = _CODE
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    if any(map(str.strip, kept)):
        yield f"`{' '.join(' '.join(kept).split())}`"


def _parted(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        # Only the last word is looked at: a text of nothing but initials would be read for ever.
        word = line[max(start, end.start() - _LAST_WORD) : end.start()]
        if not _GOES_ON.search(word) and (part := line[start : end.start()].strip()):
            yield from _narrow(part)
            start = end.end()
    if rest := line[start:].strip():
        yield from _narrow(rest)


def _narrow(part: str) -> Iterator[str]:
    while len(part) > _WIDEST:
        cut = max(part.rfind(mark, _WIDEST // 2, _WIDEST) for mark in (" ", "\uff0c", "、"))
        if cut < 0:
            # One endless word is a blob: no part of it says anything.
            before, after = part.rfind(" ", 0, _WIDEST), part.find(" ", _WIDEST)
            if before > 0:
                yield part[:before].strip()
            part = part[after + 1 :].strip() if after >= 0 else ""
            continue
        yield part[: cut + 1].strip()
        part = part[cut + 1 :].strip()
    if part:
        yield part


@lru_cache(maxsize=16_384)
def telling_words(text: str) -> frozenset[str]:
    """Return the words of a text that say something: numbers, names and all but the short ones."""
    words = _WORD.findall(text)
    return frozenset(
        [word.casefold() for word in words if len(word) > _SHORT_WORD or _NAME.search(word)]
    )


def _held(unit: str) -> set[str]:
    """Return the words of a unit without case, each once."""
    if unit.isascii():
        return set(_WORD.findall(unit.lower()))
    # Letters of other scripts may become several, and not all of them belong to words.
    return set(map(str.casefold, _WORD.findall(unit)))


class Rarity:
    """How rare words are in one conversation, by how many of its units they stand in."""

    def __init__(self, told: Iterable[str]) -> None:
        """Count the words of the units."""
        self._known: dict[str, tuple[str, float]] = {}
        """Words, each in one case and with its worth where it does not begin a unit."""
        self._found = Counter(chain.from_iterable(map(_held, told)))

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
        first = words[0].casefold()
        held = self._worth(words[0], first, first=True)
        seen = {first}
        known = self._known
        for word in words[1:]:
            found = known.get(word)
            if found is None:
                folded = word.casefold()
                found = known[word] = folded, self._worth(word, folded, first=False)
            folded, worth = found
            if folded not in seen:
                seen.add(folded)
                held += worth
        return min(held / (len(words) + 3), 1.3)

    def _worth(self, word: str, folded: str, *, first: bool) -> float:
        times = self._found[folded]
        if _NAME.search(word):
            return 1.8 if times <= 3 else 1.1 if times <= 8 else 0.5
        if word[0].isupper() and not first and len(word) > 1:
            return 1.4 if times <= 12 else 0.8
        if len(word) < 4:
            return 0.0
        return 1.0 if times <= 2 else 0.5 if times <= 6 else 0.1


MORE = "+"
"""The label of what a change contained, which follows the change itself."""


class StatementKind(StrEnum):
    """What a statement is."""

    ASK = "ask"
    """What a user asked for or told, in their words."""
    CONSTRAINT = "constraint"
    """A rule or a preference that a user stated."""
    VALUE = "value"
    """A user's own statement of a name, a number, a date, with its subject."""
    DECISION = "decision"
    """What was settled, with its reason."""
    RESULT = "result"
    """How something ended: the words that concluded a turn, a test, a failure."""
    CHANGE = "change"
    """An action that changed something."""
    OPEN = "open"
    """What is not finished: the task, a plan item, a blocker, an ask without an answer."""
    STATE = "state"
    """What is true now: where, on what branch, which files."""
    TOLD = "told"
    """What somebody told in a conversation without work."""
    REPLY = "reply"
    """More of the words that concluded a turn."""
    DETAIL = "detail"
    """What a change contained, or a report said."""
    REMARK = "remark"
    """What the assistant said on its way."""
    LOOK = "look"
    """An action that only looked: a file read, a search, a listing."""


class _Weight(NamedTuple):
    """What a kind is worth per token, and how fast that falls with what was said since."""

    worth: float
    fading: float


_WEIGHTS = {
    StatementKind.OPEN: _Weight(60.0, 0.0),
    StatementKind.STATE: _Weight(40.0, 0.0),
    StatementKind.CONSTRAINT: _Weight(24.0, 0.05),
    StatementKind.ASK: _Weight(9.0, 0.35),
    StatementKind.VALUE: _Weight(14.0, 0.1),
    StatementKind.DECISION: _Weight(13.0, 0.3),
    StatementKind.RESULT: _Weight(12.0, 0.4),
    StatementKind.CHANGE: _Weight(3.5, 0.6),
    StatementKind.TOLD: _Weight(8.0, 0.1),
    StatementKind.REPLY: _Weight(8.5, 0.5),
    StatementKind.DETAIL: _Weight(2.0, 0.8),
    StatementKind.REMARK: _Weight(3.0, 0.8),
    StatementKind.LOOK: _Weight(1.0, 1.2),
}


_OF_MODEL = 30.0
"""What a model wrote of the turns goes before what the turns tell themselves, but for the state."""


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


@quickly_made
@dataclass(frozen=True, slots=True)
class Statement:
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
        place = self.section, self.entry, self.order
        rest = self.label, self.origin, self.message, self.is_head
        return Statement(self.kind, self.text, *place, self.density * factor, *rest)

    def worth(self, age: float) -> float:
        """Return what it is worth per token, by how many times the record's size was said since."""
        if self.origin is Origin.MODEL:
            return _OF_MODEL * self.density
        worth, fading = _WEIGHTS[self.kind]
        return worth * self.density * (1.0 + age) ** -fading
