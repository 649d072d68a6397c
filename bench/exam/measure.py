"""Lets every policy sit the exam and puts the marks into a table."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

import holdfast
from bench.exam.policies import OWN_SUMMARY, POLICIES, ledger_share
from bench.exam.sittings import present, sittings
from bench.report import Bar, Result, Table
from holdfast.redaction import redact
from holdfast.summary.brief import brief
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from bench.exam.policies import Policy
    from bench.exam.sittings import Question, Sitting
    from bench.report import Cell

BARS = (
    ("holdfast, no model, 1x", 0.70),
    ("holdfast, no model, 2x", 0.82),
    ("holdfast, no model, 4x", 0.90),
    ("holdfast, default policy", 0.95),
    ("holdfast, own summary as answer, 1.5x", 0.90),
)
WITH_SUMMARY = "holdfast, own summary as answer, 1.5x"
LEDGER = 0.1
CAVEATS = (
    "1x is the length of the agent's own summary, in characters; characters are means. The ledger "
    "is the part of a summary under `## Evidence`, in the session where it is largest. Four "
    "sessions of one kind of work; keys are a stand-in for readers, and an answer whose pieces "
    "stand more than 600 characters apart is missed: differences under .1 mean little."
)


@dataclass(frozen=True, slots=True)
class Mark:
    """How one policy did in one session."""

    policy: str
    session: int
    answered: tuple[tuple[Question, bool], ...]
    characters: int
    ledger: float | None
    """The part of the summary that is the evidence ledger, for windows with a summary of ours."""


def run(windows: Path | None = None, policies: Sequence[Policy] = POLICIES) -> Result:
    """Let the policies sit the exam; write their windows into a folder, if one is given."""
    found = sittings()
    marks = measure(found, policies, windows)
    if not marks:
        return Result("exam", ())
    return Result(
        "exam",
        (table("exam", marks, f"{_questions(marks)} questions. {CAVEATS}"), reading_table(found)),
        bars(marks),
        {
            "marks": [
                {"policy": each.policy, "session": each.session, "all": round(share([each]), 3)}
                | {kind: round(share([each], kind), 3) for kind in _kinds(marks)}
                | {"ledger": each.ledger and round(each.ledger, 3), "characters": each.characters}
                for each in marks
            ]
        },
    )


def measure(
    found: Sequence[Sitting], policies: Sequence[Policy], windows: Path | None = None
) -> tuple[Mark, ...]:
    """Return the mark of each policy in each session."""
    marks: list[Mark] = []
    for policy in policies:
        for number, sitting in enumerate(found, 1):
            window = policy.build(sitting, int(len(sitting.own_summary) * policy.factor))
            if windows is not None:
                _write(windows / _slug(policy.name), sitting.session, window.text)
            answered = tuple((each, present(window.text, each.keys)) for each in sitting.questions)
            ledger = ledger_share(window)
            marks.append(Mark(policy.name, number, answered, len(window.text), ledger))
    return tuple(marks)


def share(marks: Iterable[Mark], kind: str | None = None) -> float:
    """Return the share of questions answered, of all or of one kind."""
    found = [
        right
        for mark in marks
        for question, right in mark.answered
        if kind is None or question.kind == kind
    ]
    return sum(found) / len(found)


def table(name: str, marks: Sequence[Mark], note: str) -> Table:
    """Return one row for each policy."""
    kinds = _kinds(marks)
    rows: list[tuple[Cell, ...]] = []
    for policy, own in _by_policy(marks).items():
        shares = (f"{share(own, kind):.2f}" for kind in (None, *kinds))
        ledgers = [each.ledger for each in own if each.ledger is not None]
        ledger = f"{max(ledgers):.2f}" if ledgers else ""
        rows.append((policy, *shares, ledger, round(mean(each.characters for each in own))))
    return Table(name, ("policy", "all", *kinds, "ledger", "characters"), tuple(rows), note)


def bars(marks: Sequence[Mark]) -> tuple[Bar, ...]:
    """Return the promises of the exam."""
    by_policy = _by_policy(marks)
    kept = ((name, least, share(by_policy[name])) for name, least in BARS)
    return (
        *(
            Bar(f"exam, {name}: at least {least:.2f} of the answers", f"{all_:.2f}", all_ >= least)
            for name, least, all_ in kept
        ),
        _never_worse(by_policy[WITH_SUMMARY], by_policy[OWN_SUMMARY]),
        _small_ledger(marks),
    )


def reading_table(found: Sequence[Sitting]) -> Table:
    """Return what a model that writes the record is given to read of the sessions, and what not.

    Results and arguments are cut to sizes that shrink with age; the other row has the same turns
    in stretches so short that none of them is old.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, stretch in (("all sizes as for the newest turns", 40), ("sizes shrink with age", 0)):
        tokens, answers = 0, list[bool]()
        for each in found:
            turns = DIALECTS["openai"].decode(Body(each.messages))
            starts = range(0, len(turns), stretch or len(turns))
            parts = (brief(turns[at : at + (stretch or len(turns))], redact) for at in starts)
            text = "\n\n".join(
                f"[{one.label}]\n{one.text}" for part in parts for group in part for one in group
            )
            tokens += holdfast.estimate_tokens(text)
            answers += [present(text, question.keys) for question in each.questions]
        rows.append((name, f"{tokens:,}", f"{sum(answers) / len(answers):.2f}"))
    note = (
        "What the summarizer reads of the whole sessions, in tokens by estimate, and the share of "
        "the answers that stand in it. What an earlier summary says is state, and not counted."
    )
    return Table("exam-reads", ("turns", "tokens", "answers"), tuple(rows), note)


def _never_worse(ours: Sequence[Mark], theirs: Sequence[Mark]) -> Bar:
    pairs = [
        (share([mine]), share([own]), mine.session) for mine, own in zip(ours, theirs, strict=True)
    ]
    mine, own, session = min(pairs, key=lambda pair: pair[0] - pair[1])
    promise = f"exam, {WITH_SUMMARY}: in no session below that summary alone"
    return Bar(promise, f"session {session}: {mine:.2f} against {own:.2f}", mine >= own)


def _small_ledger(marks: Sequence[Mark]) -> Bar:
    promise = "exam: the evidence ledger is at most a tenth of a summary"
    ledgers = [(mark.ledger, mark.policy) for mark in marks if mark.ledger is not None]
    if not ledgers:
        return Bar(promise, "no window has a summary", kept=False)
    largest, policy = max(ledgers)
    return Bar(promise, f"{largest:.2f} ({policy})", largest <= LEDGER)


def _by_policy(marks: Iterable[Mark]) -> dict[str, list[Mark]]:
    found: defaultdict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        found[mark.policy].append(mark)
    return found


def _kinds(marks: Sequence[Mark]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.kind for mark in marks for each, _ in mark.answered))


def _questions(marks: Sequence[Mark]) -> int:
    return sum(len(mark.answered) for mark in marks if mark.policy == marks[0].policy)


def _slug(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name.replace("'", "")).strip("-")


def _write(folder: Path, session: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.txt").write_text(text, "utf-8")
