"""How long a search takes, by kind of question."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bench.store.spread import Spread, milliseconds, spread
from holdfast.recall import Filters
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.report import Cell
    from bench.store.queries import Question
    from holdfast.ports import Store

LIMIT = 20
_NOW = 1_760_000_000_000
_WARMING = 10
ALL_BUT = "all but Chinese, Japanese, Korean"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one search took, and how much it found."""

    kind: str
    seconds: float
    found: int


def ask_store(store: Store) -> Callable[[Question], int]:
    """Return a search of the store that says how many messages it found."""

    def ask(question: Question) -> int:
        filters = Filters(
            roles=(Role(question.role),) if question.role else (),
            sources=(question.source,) if question.source else (),
        )
        return len(store.search(question.text, filters, limit=LIMIT, now=_NOW))

    return ask


def answers(ask: Callable[[Question], int], asked: Sequence[Question]) -> list[Answer]:
    """Ask every question once, after a few to warm up on: nobody asks the same thing twice."""
    for question in asked[-_WARMING:]:
        ask(question)
    given: list[Answer] = []
    for question in asked:
        started = time.perf_counter()
        found = ask(question)
        given.append(Answer(question.kind, time.perf_counter() - started, found))
    return given


def is_spaced(answer: Answer) -> bool:
    """Say whether a question is in a script that every search engine can cut into words."""
    return not answer.kind.startswith(("Chinese", "Japanese", "Korean"))


def all_of(given: Sequence[Answer]) -> Spread:
    """Return how the times of all kinds are spread."""
    return spread([answer.seconds for answer in given])


def rows_by_kind(runs: Mapping[str, Sequence[Answer]]) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for each kind with found, p50 and p95 of each run, then the sums."""
    kinds = dict.fromkeys(answer.kind for given in runs.values() for answer in given)
    rows: list[tuple[Cell, ...]] = []
    groups: dict[str, Callable[[Answer], bool]] = {
        **{kind: partial(_is_of, kind) for kind in sorted(kinds, key=str.casefold)},
        ALL_BUT: is_spaced,
        "**all**": lambda _: True,
    }
    for name, belongs in groups.items():
        cells: list[Cell] = [name]
        for given in runs.values():
            some = [answer for answer in given if belongs(answer)]
            times = spread([answer.seconds for answer in some])
            found = sum(answer.found > 0 for answer in some) / len(some)
            cells += [f"{found:.0%}", milliseconds(times.p50), milliseconds(times.p95)]
        rows.append(tuple(cells))
    return tuple(rows)


def _is_of(kind: str, answer: Answer) -> bool:
    return answer.kind == kind
