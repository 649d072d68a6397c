"""A model's answer beside what the turns show: each turn is told once, under one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.summary.record import number_of, words_of
from holdfast.summary.statements import Origin
from holdfast.summary.story import PLACES, USER
from holdfast.summary.tracing import letters

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from holdfast.summary.record import Record
    from holdfast.summary.statements import Statement
    from holdfast.summary.tracing import Said
    from holdfast.summary.turns import Turn

QUOTES = "\"'“«「『"
"""What begins a quotation."""
_QUOTED = 12
"""Letters of a quotation that can be told from others."""
_ASK = 60
"""Letters at the beginning of an ask by which an answer's entry about it is known."""
_COVERED = 0.8
"""How much of a statement a model's answer has, from which on it need not be told again."""


def see(entry: int) -> tuple[int, int]:
    """Return the turn that a decision belongs to, and its place there."""
    return divmod(entry, PLACES) if entry > 0 else (0, 0)


def asks_repeated(answer: Record, turns: Iterable[Turn]) -> dict[str, tuple[int, list[str]]]:
    """Return the entries that only repeat a user's message, with its place and what they quote.

    The story tells the message with what came of it, and once is enough.
    """
    asks = {letters(ask): turn.place for turn in turns for ask in turn.asks}
    asks.pop("", None)
    found: dict[str, tuple[int, list[str]]] = {}
    for entry in answer.actions:
        words = words_of(entry).removeprefix(f"{USER}: ")
        gaps = words.replace("...", "…").split("…")
        pieces = [piece for piece in map(letters, gaps) if piece]
        if words[:1] in QUOTES and len("".join(pieces)) >= _QUOTED:
            same = (place for ask, place in asks.items() if all(map(ask.__contains__, pieces)))
        else:
            same = iter([asks[piece] for piece in pieces if len(pieces) == 1 and piece in asks])
        if (place := next(same, None)) is not None:
            found[entry] = place, pieces
    return found


def turns_told(
    answer: Record, turns: Sequence[Turn], repeated: Container[str], first: int
) -> dict[int, int]:
    """Return which turns an answer tells of, by the asks that it quotes, and under which numbers.

    Args:
        answer: What a model wrote.
        turns: The turns; the first of them is number `first` of the story.
        repeated: Entries that are not taken over.
        first: That number.
    """
    entries = [
        (number_of(entry), letters(words_of(entry)), words_of(entry)[:1] in QUOTES)
        for entry in answer.actions
        if entry not in repeated
    ]
    found: dict[int, int] = {}
    # From the end: people ask for the same again, and what an answer leaves out is old.
    for number, turn in reversed([*enumerate(turns, first)]):
        asks = [letters(ask)[:_ASK] for ask in turn.asks]
        known = [ask for ask in asks if len(ask) >= _QUOTED]
        # A short ask must be quoted.
        short = tuple(ask for ask in asks if 0 < len(ask) < _QUOTED)
        for at, (own, told, is_quoted) in reversed([*enumerate(entries)]):
            begins = any(ask in told[: 2 * _ASK] for ask in known)
            if begins or (is_quoted and told.startswith(short)):
                found[number] = own
                del entries[at:]
                break
    return found


def joining(story: Iterator[Statement], known: Mapping[int, int]) -> Iterator[Statement]:
    """Yield the story; what it has of turns that an answer tells of goes on under their numbers."""
    for each in story:
        number, order = (each.entry, 0) if each.section == "actions" else see(each.entry)
        if number not in known:
            yield each
        elif each.section != "actions":
            yield replace(each, entry=known[number] * PLACES + order)
        elif each.label != USER:
            order = each.order + PLACES
            yield replace(each, entry=known[number], order=order, is_head=False)


def uncovered(
    statements: Sequence[Statement], answer: Said, asked: Mapping[int, Sequence[str]]
) -> Iterator[Statement]:
    """Yield what an answer does not say; what it quoted of messages is told in its place.

    An ask that it has is told only with more of its turn.
    """
    for each in statements:
        if each.label == USER and each.message in asked:
            said = letters(each.text)
            is_quoted = any(piece in said or said in piece for piece in asked[each.message])
            density = max(each.density, 0.5)
            yield replace(each, origin=Origin.MODEL, density=density) if is_quoted else each
        elif answer.resembles(each.text) < _COVERED:
            yield each
        elif each.is_head:
            yield replace(each, density=0.0)
