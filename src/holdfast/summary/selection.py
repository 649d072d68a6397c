"""Which statements a record of a given size tells: the most worthy first, each thing once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.summary.statements import MORE, NOW, Origin, StatementKind, telling_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.summary.statements import Statement

_OF_ENTRY, _OF_STATEMENT = 6, 2
"""Tokens that numbers, labels and joints cost beside the words."""
_OF_EARLIER, _OF_REPEATED = 1 / 4, 0.8
"""The share of a record that is for what earlier ones said, and of a statement that is told."""
_SMALLEST = 6
_CHARACTERS, _MOST_CHARACTERS = 4, 9
"""Characters of a token as a rule, and more than it has in a sentence of any language."""
_THEIR_OWN = NOW | {StatementKind.ASK, StatementKind.DECISION, StatementKind.RESULT}
"""Kinds that are told whatever else has their words."""


def most_tokens(statements: Sequence[Statement], count: Callable[[str], int]) -> int:
    """Return what a record that tells all of the statements may weigh, without its headings."""
    entries = {(each.section, each.entry) for each in statements}
    words = sum([count(each.text) for each in statements])
    return words + _OF_STATEMENT * len(statements) + _OF_ENTRY * len(entries)


class StatementSelection:
    """The statements that fit a budget, the most worthy first.

    What is open and how things stand comes first, then what a model wrote. Of the rest, a quarter
    is for what earlier records said, as far as they need it: they stand for all that went before.
    """

    def __init__(
        self, statements: Sequence[Statement], budget: int, count: Callable[[str], int]
    ) -> None:
        """Choose among statements, the oldest first, for a record of so many tokens."""
        self.count = count
        self._statements = statements
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
        # What is told is worth less, the more was told after it.
        after, worths = 0, list[tuple[float, int]]()
        for at, each in reversed(list(enumerate(statements))):
            worths.append((-each.worth(after / (max(budget, 1) * _CHARACTERS)), -at))
            after += len(each.text) * (each.kind is not StatementKind.LOOK)
        self._ranked = [-at for _, at in sorted(worths)]
        left = self._take([at for at in self._ranked if statements[at].kind in NOW], budget)
        written = [at for at in self._ranked if statements[at].origin is Origin.MODEL]
        left = self._take(written, left)
        earlier = [at for at in self._ranked if statements[at].origin is Origin.EARLIER]
        share = int(left * _OF_EARLIER)
        self.extend(left - share + self._take(earlier, share))

    @property
    def is_all(self) -> bool:
        """Say whether every statement was chosen."""
        return len(self._chosen) == len(self._statements)

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
                tokens -= self.count(self._statements[at].text)

    def _take(self, ranked: Sequence[int], room: int, *, again: bool = False) -> int:
        """Take statements in their order while they fit, and return how many tokens are left.

        What turns say with words that are told already is taken only where it is asked for `again`.
        What a user said or decided is no repetition: "not" is too short a word to be compared.
        """
        statements, chosen, count = self._statements, self._chosen, self.count
        for at in [at for at in ranked if at not in chosen]:
            if room < _SMALLEST:
                break
            each = statements[at]
            if len(each.text) > room * _MOST_CHARACTERS or at in chosen:
                continue
            place = each.section, each.entry
            cost = count(each.text) + _OF_STATEMENT
            cost += 0 if place in self._opened else _OF_ENTRY
            # An answer to nothing tells nothing, and what a change contained stands right after it.
            head, before = self._heads.get(place, at), at - 1 if each.label == MORE else at
            needs = dict.fromkeys(one for one in (head, before) if one != at and one not in chosen)
            if needs:
                cost += sum(count(statements[one].text) + _OF_STATEMENT for one in needs)
            if cost > room:
                continue
            if not (again or each.origin is not Origin.TURNS or each.is_head):
                words = frozenset[str]() if each.kind in _THEIR_OWN else telling_words(each.text)
                if len(words & self._told) > _OF_REPEATED * len(words):
                    continue
            room -= cost
            wanted = (*needs, at)
            chosen.update(wanted)
            self._taken.append(wanted)
            self._told.update(*[telling_words(statements[one].text) for one in wanted])
            self._opened.add(place)
        return room
