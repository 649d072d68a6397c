"""Statements: what a record can say, one by one, with what each is worth; and which fit.

Everything that turns and earlier records tell becomes a statement with a place in the record. One
rule decides for every size what is said: worth per token, less with age, the best first. The same
statements are what the audit asks for afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from holdfast.transcript.parts import quickly_made

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["MORE", "Choice", "Origin", "Statement", "StatementKind"]


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
    StatementKind.RESULT: _Weight(10.0, 0.4),
    StatementKind.CHANGE: _Weight(5.0, 0.6),
    StatementKind.TOLD: _Weight(8.0, 0.1),
    StatementKind.REPLY: _Weight(6.5, 0.5),
    StatementKind.DETAIL: _Weight(3.5, 0.8),
    StatementKind.REMARK: _Weight(3.0, 0.8),
    StatementKind.LOOK: _Weight(1.0, 1.2),
}


_OF_MODEL = 30.0
"""What a model wrote of the turns goes before what the turns tell themselves, but for the state."""


_NOW = frozenset(
    {StatementKind.OPEN, StatementKind.STATE, StatementKind.CONSTRAINT, StatementKind.VALUE}
)


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


_OF_ENTRY = 6
_OF_STATEMENT = 2
"""Tokens that numbers, labels and joints cost beside the words."""
_OF_EARLIER = 1 / 4
"""The share of a record that is kept for what earlier ones said."""
_SMALLEST = 6
_CHARACTERS, _MOST_CHARACTERS = 4, 9
"""Characters of a token as a rule, and more than it has in a sentence of any language."""


class Choice:
    """The statements that fit a budget, the most worthy first.

    What is open and how things stand comes first. Of the rest, a quarter is for what earlier
    records said, as far as they need it, since they stand for all that went before; a model that
    wrote a new one has said already what of them still counts.
    """

    def __init__(
        self, statements: Sequence[Statement], budget: int, count: Callable[[str], int]
    ) -> None:
        """Choose among statements, the oldest first, for a record of so many tokens."""
        self._statements = statements
        self._count = count
        self._chosen: set[int] = set()
        self._taken: list[tuple[int, ...]] = []
        self._opened: set[tuple[str, int]] = set()
        self._heads = {
            (each.section, each.entry): at for at, each in enumerate(statements) if each.is_head
        }
        worths = _worths(statements, budget)
        self._ranked = sorted(range(len(statements)), key=lambda at: (-worths[at], -at))
        left = self._take([at for at in self._ranked if statements[at].kind in _NOW], budget)
        if written := [at for at in self._ranked if statements[at].origin is Origin.MODEL]:
            left = self._take(written, left)
        else:
            earlier = [at for at in self._ranked if statements[at].origin is Origin.EARLIER]
            share = int(left * _OF_EARLIER)
            left -= share - self._take(earlier, share)
        self._take(self._ranked, left)

    @property
    def statements(self) -> list[Statement]:
        """Return what was chosen, in the order given."""
        return [self._statements[at] for at in sorted(self._chosen)]

    def extend(self, tokens: int) -> None:
        """Choose more for tokens that were left over."""
        self._take(self._ranked, tokens)

    def shrink(self, tokens: int) -> None:
        """Give up what was chosen last until so many tokens are free, at most half of it."""
        fewest = len(self._taken) // 2
        while tokens > 0 and len(self._taken) > fewest:
            for at in self._taken.pop():
                self._chosen.remove(at)
                tokens -= self._count(self._statements[at].text)

    def _take(self, ranked: Sequence[int], room: int) -> int:
        """Take statements in their order while they fit, and return how many tokens are left."""
        for at in ranked:
            if room < _SMALLEST:
                break
            each = self._statements[at]
            if at in self._chosen or len(each.text) > room * _MOST_CHARACTERS:
                continue
            wanted = self._with_head(at)
            cost = self._cost(at, wanted)
            if cost <= room:
                room -= cost
                self._chosen.update(wanted)
                self._taken.append(wanted)
                self._opened.add((each.section, each.entry))
        return room

    def _with_head(self, at: int) -> tuple[int, ...]:
        """Return a statement with what it needs: an answer to nothing tells nothing."""
        each = self._statements[at]
        head = self._heads.get((each.section, each.entry), at)
        # What a change contained is told with the change, which stands right before it.
        wanted = dict.fromkeys((head, at - 1, at) if each.label == MORE else (head, at))
        return tuple(one for one in wanted if one == at or one not in self._chosen)

    def _cost(self, at: int, wanted: Sequence[int]) -> int:
        each = self._statements[at]
        cost = sum(self._count(self._statements[one].text) + _OF_STATEMENT for one in wanted)
        return cost if (each.section, each.entry) in self._opened else cost + _OF_ENTRY


def _worths(statements: Sequence[Statement], budget: int) -> list[float]:
    """Return what each statement is worth per token: less, the more was told after it."""
    size = max(budget, 1) * _CHARACTERS
    after = 0
    found: list[float] = []
    for each in reversed(statements):
        found.append(each.worth(after / size))
        if each.kind is not StatementKind.LOOK:
            after += len(each.text)
    return found[::-1]
