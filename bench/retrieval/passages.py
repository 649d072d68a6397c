"""Search inside one long session: does one call bring back the answer to an exam question?"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING

from bench.exam.sittings import present, sittings
from bench.report import Bar, Table, stopwatch
from holdfast.conversation import SessionSearch
from holdfast.recall import Filters, parse
from holdfast.recall.shapes import written
from holdfast.recall.wording import words_of
from holdfast.session import Draft, Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.system import SystemClock
from holdfast.tokens import Estimator
from holdfast.wire.message_list import read_messages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.exam.sittings import Sitting

BUDGET = 2_500
LEAST = 0.55
_AS_ASKED = "passages, the question as it stands"
_KEYWORDS = "passages, its telling words alone"
_TEN_BEST = "the ten best messages, 800 characters of each"


@dataclass(frozen=True, slots=True)
class Try:
    """One search, and whether the answer was in what came back."""

    way: str
    is_answered: bool
    tokens: int
    seconds: float


def passage_tries() -> tuple[Try, ...]:
    """Search each session of the exam for each of its questions, in every way."""
    found: list[Try] = []
    with tempfile.TemporaryDirectory() as folder:
        for sitting in sittings():
            store = SqliteStore(Path(folder) / f"{sitting.session}.db")
            try:
                found += _sat(store, sitting)
            finally:
                store.close()
    return tuple(found)


def passage_table(tries: Sequence[Try]) -> tuple[Table, ...]:
    """Return one row for each way; none where the sessions are missing."""
    rows = [
        (
            way,
            len(own),
            f"{mean(each.is_answered for each in own):.2f}",
            round(mean(each.tokens for each in own)),
            max(each.tokens for each in own),
            round(median(each.seconds for each in own) * 1000),
        )
        for way in dict.fromkeys(each.way for each in tries)
        if (own := [each for each in tries if each.way == way])
    ]
    columns = ("one search in a session", "questions", "answered", "tokens", "most", "p50 ms")
    note = (
        "Answered is the share of questions whose keys stand within 600 characters of the result."
    )
    return (Table("retrieval-passages", columns, tuple(rows), note),) if rows else ()


def passage_bars(tries: Sequence[Try]) -> tuple[Bar, ...]:
    """Return the promise of a search inside one conversation."""
    own = [each for each in tries if each.way == _AS_ASKED]
    if not own:
        return ()
    share, most = mean(each.is_answered for each in own), max(each.tokens for each in own)
    promise = f"one search in a session answers {LEAST} of exam questions in {BUDGET:,} tokens"
    return (Bar(promise, f"{share:.2f} in {most:,}", share >= LEAST and most <= BUDGET),)


def _sat(store: SqliteStore, sitting: Sitting) -> list[Try]:
    session = store.create(Session(id=sitting.session, source="cli", started=0))
    messages = read_messages(sitting.messages).transcript
    store.append(session.id, [Draft(message=each, at=at) for at, each in enumerate(messages)])
    search = SessionSearch(store, SystemClock(), budget=BUDGET)

    def passages(query: str) -> str:
        return written(search.session_search(query=query, session_id=session.id))

    def keywords(query: str) -> str:
        return passages(" ".join(term.text.strip("?.,") for term in parse(query).telling))

    def ten_best(query: str) -> str:
        hits = store.search(query, Filters(sessions=(session.id,)), limit=10, now=0)
        return "\n\n".join(words_of(store.whole(hit.message_id))[:800] for hit in hits)

    ways: dict[str, Callable[[str], str]] = {
        _AS_ASKED: passages,
        _KEYWORDS: keywords,
        _TEN_BEST: ten_best,
    }
    counter = Estimator()
    tries: list[Try] = []
    for question in sitting.questions:
        for way, ask in ways.items():
            text = ask(question.text)
            seconds = stopwatch(lambda ask=ask, asked=question.text: ask(asked), rounds=1)
            tries.append(Try(way, present(text, question.keys), counter.count(text), seconds))
    return tries
