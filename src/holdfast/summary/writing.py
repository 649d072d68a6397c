"""Writing a record with a summarizer: chunk by chunk, each answer read, checked and cut.

The body is a generator that yields asks and is sent answers. Whoever drives it decides how a
model is reached, blocking or not.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.summary.asking import Ask, Composed, Declined, Failure
from holdfast.summary.brief import brief, mark_for, user_words
from holdfast.summary.chunking import SAFETY, allot, answer_tokens, chunks, fits, halves
from holdfast.summary.draft import trim
from holdfast.summary.flaws import problem_of
from holdfast.summary.masking import redact_all
from holdfast.summary.merging import merged
from holdfast.summary.prompts import Request, first_prompt, repair_note, update_prompt
from holdfast.summary.provenance import Heard, verify
from holdfast.summary.reader import reading
from holdfast.summary.record import Record, last_number, render
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Generator

    from holdfast.summary.asking import Answer, Job

__all__ = ["write"]

_TERSE_SHARE = 4
_FOCUS_WIDTH = 300
_SMALLEST = 80
_LEAST = 1.75
"""Weights of the bare headings from which on a model has room to say something under them."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """A job, sized."""

    request: Request
    window: int
    chunks: tuple[str, ...]


def write(job: Job) -> Generator[Ask, Answer, Composed | Declined]:
    """Write the record of a job, asking once for each chunk of its turns.

    The first answer that is declined or unusable ends it: a record with a hole is no record.
    """
    plan = _planned(job)
    if isinstance(plan, Declined):
        return plan
    record = Record() if job.previous is None else job.previous.record
    record = trim(record, plan.request.budget, job.count)
    heard = Heard(_known_words(job))
    waiting = deque(plan.chunks)
    step, model, warnings = 0, "", list[str]()
    while waiting:
        material = waiting.popleft()
        ask = _ask(plan, record, material, step + 1, step + 1 + len(waiting))
        if not fits(job.count(ask.prompt), plan.request.budget, plan.window):
            if len(material) < _SMALLEST:
                return _too_small(job)
            waiting.extendleft(reversed(halves(material)))
            continue
        step += 1
        answer = yield ask
        if isinstance(answer, Declined):
            return answer
        settled = _settled(job, answer.text, record, heard, ask.prompt)
        if isinstance(settled, Declined):
            return settled
        record = trim(settled.record, plan.request.budget, job.count)
        warnings.extend(settled.warnings)
        model = answer.model
    return Composed(record, step, model, tuple(dict.fromkeys(warnings)))


def _planned(job: Job) -> _Plan | Declined:
    groups = brief(job.messages, job.redact)
    state = "" if job.previous is None else render(job.previous.record)
    texts = (text for group in groups for piece in group for text in (piece.label, piece.text))
    mark = mark_for([*texts, state])
    focus, hint = (job.redact(flat(words, _FOCUS_WIDTH)) for words in (job.focus, job.hint))
    request = Request(job.budget, job.today, mark, focus, hint, steps=999, step=999)
    overhead = _overhead(job, request)
    if overhead * SAFETY * _TERSE_SHARE > job.window:
        request = replace(request, terse=True)
        overhead = _overhead(job, request)
    least = int(_LEAST * job.count(render(Record())))
    if job.budget < least:
        return _too_short(job, least)
    room = allot(job.window, job.budget, overhead, least)
    if room is None:
        return _too_small(job)
    request = replace(request, budget=room.budget)
    return _Plan(request, job.window, chunks(groups, mark, room.material, job.count))


def _overhead(job: Job, request: Request) -> int:
    """Return the tokens of a request that holds no turns, with room for asking again."""
    longest = update_prompt(request, "", 999_999, "")
    return job.count(longest) + job.count(repair_note("x" * 80)) + 16


def _ask(plan: _Plan, record: Record, material: str, step: int, steps: int) -> Ask:
    request = replace(plan.request, step=step, steps=steps)
    tokens = answer_tokens(request.budget)
    if not record:
        return Ask(first_prompt(request, material), tokens, "first", step, steps)
    number = last_number(record.actions)
    prompt = update_prompt(request, render(record), number, material)
    return Ask(prompt, tokens, "update", step, steps)


def _settled(
    job: Job, text: str, record: Record, heard: Heard, request: str
) -> Composed | Declined:
    """Read an answer into a record: redacted, completed from the last one, and verified."""
    found = reading(masked := job.redact(text))
    # Most answers hold no secret, and then there is one reading for both.
    as_said = found if masked == text else reading(text)
    flaw = problem_of(text, None if as_said is None else as_said.record, request)
    if flaw is not None or found is None:
        failure = Failure.MALFORMED if text.strip() else Failure.EMPTY
        return Declined(failure, f"the summarizer wrote no record: {flaw}")
    complete = merged(record, found)
    checked, warnings = verify(complete, heard)
    return Composed(checked, 1, warnings=warnings)


def _known_words(job: Job) -> tuple[str, ...]:
    """Return everything that users are known to have said, the newest last."""
    outside = (job.opening, *user_words(job.messages), job.task)
    said = tuple(redact_all(filter(None, outside), job.redact))
    if job.previous is None:
        return said
    record = job.previous.record
    kept = (*record.constraints, *record.goal, *record.pending, *record.task)
    return (*job.previous.lasting, *job.previous.said, *kept, *said)


def _too_short(job: Job, least: int) -> Declined:
    """Say that the conversation's window is what is small, whatever the summarizer's."""
    return Declined(
        Failure.UNCONFIGURED,
        f"no model was asked for the record: the window of the conversation leaves {job.budget:,}"
        f" tokens for it, and one that a model writes takes at least {least:,}",
    )


def _too_small(job: Job) -> Declined:
    return Declined(
        Failure.UNCONFIGURED,
        f"the summarizer's window of {job.window:,} tokens cannot hold a record;"
        " choose a summary model with a larger one",
    )
