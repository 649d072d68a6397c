"""Write conversations into a store, search every question, and count the turns that came back."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from bench.report import Bar, Result, Table, stopwatch
from bench.retrieval.passages import passage_bars, passage_table, passage_tries
from bench.retrieval.samples import Question, Sample, read
from holdfast.recall import Filters
from holdfast.session import Draft, Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bench.report import Cell
    from holdfast.recall import Hit

_FOLDER = Path(__file__).parent / "conversations"
_DEPTHS = (5, 10, 20)
_MINUTE = 60_000
_COLUMNS = ("", "questions", "recall@5", "recall@10", "recall@20", "MRR", "p50 ms", "p95 ms")

_CAVEAT = (
    " These conversations are short, and some rules of the search were added after misses on them "
    "were seen: the figures show that every language works, not how a long history fares."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search brought back for one question."""

    sample: Sample
    question: Question
    found: tuple[tuple[str, str], ...]
    """The turns, best first, each with the name of its conversation."""
    seconds: float

    def recall(self, depth: int) -> float:
        """Return the share of the evidence among the first results."""
        wanted = {(self.sample.name, turn) for turn in self.question.evidence}
        return len(wanted.intersection(self.found[:depth])) / len(wanted)

    @property
    def reciprocal_rank(self) -> float:
        """Return 1 over the place of the first turn that answers."""
        wanted = {(self.sample.name, turn) for turn in self.question.evidence}
        places = (place for place, turn in enumerate(self.found, 1) if turn in wanted)
        return 1 / next(places, float("inf"))


def run(files: Sequence[Path] = ()) -> Result:
    samples = [sample for path in files or sorted(_FOLDER.glob("*.json")) for sample in read(path)]
    alone = [answer for sample in samples for answer in _ask([sample])]
    together = _ask(samples) if len(samples) > 1 else alone
    turns = [sum(len(each) for _, each in sample.sessions) for sample in samples]
    note = (
        f"{len(samples)} conversations of {min(turns)} to {max(turns)} turns, "
        f"{len(alone)} questions with evidence. Recall is the mean share of a question's evidence "
        "among the results; MRR the mean of 1 over the place of the first of it."
        + ("" if files else _CAVEAT)
    )
    rows = [
        _row("each in a store of its own", alone),
        _row(f"all in one store ({sum(turns):,} turns)", together),
    ]
    tables = (
        Table("retrieval", _COLUMNS, tuple(rows), note),
        _by("retrieval-category", together, lambda answer: answer.question.category),
        _by("retrieval-language", together, lambda answer: answer.sample.language),
    )
    tries = () if files else passage_tries()
    bars = (*_bars(together), *passage_bars(tries))
    return Result(
        "retrieval", (*tables, *passage_table(tries)), bars, {"missed": _missed(together)}
    )


def _ask(samples: Sequence[Sample]) -> list[Answer]:
    """Write conversations into one store, and search it for all their questions."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "retrieval.db")
        try:
            turns = {
                message: (sample.name, turn)
                for sample in samples
                for message, turn in _written(store, sample)
            }
            now = max(at for sample in samples for at, _ in sample.sessions)
            return [
                _answer(store, sample, question, (turns, now))
                for sample in samples
                for question in sample.questions
            ]
        finally:
            store.close()


def _written(store: SqliteStore, sample: Sample) -> Iterable[tuple[int, str]]:
    for number, (at, turns) in enumerate(sample.sessions):
        session = store.create(Session(id=f"{sample.name}-{number}", source="cli", started=at))
        drafts = [
            Draft(
                message=Message(
                    Role.USER if turn.speaker == sample.speakers[0] else Role.ASSISTANT,
                    (Text(turn.text),),
                ),
                at=at + place * _MINUTE,
                tokens=len(turn.text.encode()) // 4 + 1,
            )
            for place, turn in enumerate(turns)
        ]
        entries = store.append(session.id, drafts)
        yield from zip((entry.id for entry in entries), (turn.id for turn in turns), strict=True)


def _answer(
    store: SqliteStore,
    sample: Sample,
    question: Question,
    known: tuple[dict[int, tuple[str, str]], int],
) -> Answer:
    turns, now = known

    def search() -> tuple[Hit, ...]:
        return store.search(question.text, Filters(), limit=max(_DEPTHS), now=now)

    hits = search()
    seconds = stopwatch(search, rounds=3)
    return Answer(sample, question, tuple(turns[hit.message_id] for hit in hits), seconds)


def _by(name: str, answers: Sequence[Answer], key: Callable[[Answer], str]) -> Table:
    groups: defaultdict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[key(answer)].append(answer)
    rows = tuple(_row(group, groups[group]) for group in sorted(groups))
    return Table(name, _COLUMNS, rows, "All conversations in one store.")


def _row(name: str, answers: Sequence[Answer]) -> tuple[Cell, ...]:
    recalls = (round(mean(answer.recall(depth) for answer in answers), 3) for depth in _DEPTHS)
    rank = round(mean(answer.reciprocal_rank for answer in answers), 3)
    return (name, len(answers), *recalls, rank, _time(answers, 0.5), _time(answers, 0.95))


def _time(answers: Sequence[Answer], share: float) -> float:
    times = sorted(answer.seconds for answer in answers)
    return round(times[min(len(times) - 1, int(len(times) * share))] * 1000, 2)


def _bars(answers: Sequence[Answer]) -> tuple[Bar, ...]:
    recall = mean(answer.recall(20) for answer in answers)
    slow = _time(answers, 0.95)
    return (
        Bar(
            "turn recall@20 of questions, words alone, at least .80", f"{recall:.3f}", recall >= 0.8
        ),
        Bar("a question is searched within 5 ms (p95)", f"{slow:.1f} ms", slow <= 5),
    )


def _missed(answers: Sequence[Answer]) -> list[str]:
    return [
        f"{answer.sample.name}: {answer.question.text}"
        for answer in answers
        if answer.recall(20) < 1
    ]
