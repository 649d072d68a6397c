"""Which statements a record of a given size tells: the most worthy first, each thing once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.summary.statements import MORE, NOW, Origin, StatementKind, telling_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.summary.statements import Statement

_OF_ENTRY = 6
_OF_STATEMENT = 2
"""Tokens that numbers, labels and joints cost beside the words."""
_OF_EARLIER = 1 / 4
"""The share of a record that is kept for what earlier ones said."""
_OF_REPEATED = 0.8
"""How many of its words are told elsewhere where a statement says nothing new."""
_SMALLEST = 6
_CHARACTERS, _MOST_CHARACTERS = 4, 9
"""Characters of a token as a rule, and more than it has in a sentence of any language."""


_THEIR_OWN = NOW | {StatementKind.ASK, StatementKind.DECISION}
"""Kinds that are told whatever else has their words."""


class StatementSelection:
    """The statements that fit a budget, the most worthy first.

    What is open and how things stand comes first, then what a model wrote. Of the rest, a quarter
    is for what earlier records said, as far as they need it: they stand for all that went before.
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
        self._told: set[str] = set()
        """The words of what was chosen."""
        # A model's words are its own; what the turns say beside them was compared with them before.
        self._repeats = any(each.origin is Origin.MODEL for each in statements)
        worths = _worths(statements, budget)
        self._ranked = sorted(range(len(statements)), key=lambda at: (-worths[at], -at))
        left = self._take([at for at in self._ranked if statements[at].kind in NOW], budget)
        written = [at for at in self._ranked if statements[at].origin is Origin.MODEL]
        left = self._take(written, left)
        earlier = [at for at in self._ranked if statements[at].origin is Origin.EARLIER]
        share = int(left * _OF_EARLIER)
        left -= share - self._take(earlier, share)
        self.extend(left)

    @property
    def statements(self) -> list[Statement]:
        """Return what was chosen, in the order given."""
        return [self._statements[at] for at in sorted(self._chosen)]

    def extend(self, tokens: int) -> None:
        """Choose more for tokens that are left over, what says little that is new last."""
        left = self._take(self._ranked, tokens, again=self._repeats)
        self._take(self._ranked, left, again=True)

    def shrink(self, tokens: int) -> None:
        """Give up what was chosen last until so many tokens are free, at most half of it."""
        fewest = len(self._taken) // 2
        while tokens > 0 and len(self._taken) > fewest:
            for at in self._taken.pop():
                self._chosen.remove(at)
                tokens -= self._count(self._statements[at].text)

    def _take(self, ranked: Sequence[int], room: int, *, again: bool = False) -> int:
        """Take statements in their order while they fit, and return how many tokens are left.

        What turns say with words that are told already is taken only where it is asked for `again`.
        """
        for at in ranked:
            if room < _SMALLEST:
                break
            each = self._statements[at]
            if at in self._chosen or len(each.text) > room * _MOST_CHARACTERS:
                continue
            wanted = self._with_head(at)
            cost = self._cost(at, wanted)
            if cost <= room and (again or not self._is_told(each)):
                room -= cost
                self._chosen.update(wanted)
                self._taken.append(wanted)
                self._told.update(*(telling_words(self._statements[one].text) for one in wanted))
                self._opened.add((each.section, each.entry))
        return room

    def _is_told(self, each: Statement) -> bool:
        """Say whether nearly all words of a statement of the turns are told elsewhere.

        What a user said or decided is no repetition: "not" is too short a word to be compared.
        """
        if each.origin is not Origin.TURNS or each.is_head or each.kind in _THEIR_OWN:
            return False
        words = telling_words(each.text)
        return len(words & self._told) > _OF_REPEATED * len(words)

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
