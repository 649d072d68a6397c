"""The record with no model: from what was said, what tools did and what the evidence shows.

It is the embedded default and the last rung when a summarizer fails. Like the written record it
is brought up to date, never nested: numbers go on, files keep their newest state.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.summary.cues import is_decision, is_rule, sentences
from holdfast.summary.deeds import action_lines, tally
from holdfast.summary.provenance import quoted_input
from holdfast.summary.record import HEADINGS, Record, last_number
from holdfast.summary.standing import failures, file_notes, plan_left, state_lines
from holdfast.summary.story import Story, tell
from holdfast.summary.trim import trim
from holdfast.summary.updating import updated
from holdfast.transcript.toolkit import Toolkit, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.facts import Evidence
    from holdfast.summary.asking import Job

__all__ = ["deterministic"]

_READ_OF_MESSAGE = 6_000
_READ_OF_REPLIES = 120_000
_SENTENCE = 300
_RULES = 24
_DECISIONS = 16
_ROUNDS = 24
_ASK, _REPLY, _LAST = 240, 240, 500
_SHORT_INPUT = 40

_VALUES = {
    "port": ("Ports", 400),
    "url": ("URLs", 600),
    "version": ("Versions", 600),
    "commit": ("Commits", 500),
    "flag": ("Flags", 500),
    "identifier": ("Names", 150),
}
"""Kinds of evidence that belong to no other section: their title, and for how many tokens of the
budget one of them is listed."""


def deterministic(job: Job, evidence: Sequence[Evidence], toolkit: Toolkit | None = None) -> Record:
    """Return the record of a job without asking anybody.

    Args:
        job: The turns, the previous checkpoint and the budget.
        evidence: Exact facts of the turns, best first.
        toolkit: The agent's tools, where some are not known by name.
    """
    story = tell(job.messages, toolkit or Toolkit())
    fresh = _fresh(job, story, evidence)
    previous = Record() if job.previous is None else job.previous.record
    record = updated(previous, fresh, _first_line(story.opening, job.redact))
    return trim(_redacted(record, job.redact), job.budget, job.count)


def _fresh(job: Job, story: Story, evidence: Sequence[Evidence]) -> Record:
    rounds = story.rounds
    task = job.task or (rounds[-1].words if rounds else "")
    opening = job.opening or (rounds[0].words if rounds else "")
    earlier = [each for each in rounds if each.words != task]
    answered = [each for each in earlier if each.reply]
    waiting = [each for each in earlier if not each.reply]
    redact = job.redact
    return Record(
        task=tuple(_newest(story, task, redact)),
        goal=(flat(redact(opening[:4_000]), 400),) if opening else (),
        constraints=tuple(_rules(story)),
        actions=(*_older(story, job), *action_lines(story.deeds, redact)),
        state=state_lines(story.deeds),
        in_progress=tuple(_last_words(story, redact)),
        blocked=failures(story.deeds),
        decisions=tuple(_decisions(story)),
        resolved=tuple(
            f'"{flat(redact(each.words[:2_000]), _ASK)}" - {_first_line(each.reply, redact)}'
            for each in answered[-_ROUNDS:]
        ),
        pending=tuple(f'"{flat(redact(each.words[:2_000]), _ASK)}"' for each in waiting[-_ROUNDS:]),
        files=file_notes(story.deeds),
        remaining=plan_left(story.deeds),
        critical=tuple(_values(evidence, job.budget)),
    )


def _newest(story: Story, words: str, redact: Callable[[str], str]) -> Iterator[str]:
    """Yield the newest input, and for a short one such as "yes" what it was said to."""
    if not words:
        return
    yield quoted_input(words)
    earlier = [each for each in story.rounds if each.words != words]
    before = earlier[-1].reply if earlier else story.opening
    # Bytes rather than characters: forty characters of Chinese are a whole request.
    is_short = len(words.encode("utf-8", "surrogatepass")) < _SHORT_INPUT
    if is_short and before:
        ending = redact(before[-_LAST * 6 :])[-_LAST:]
        yield f"(said after the assistant wrote: {flat(ending, _LAST)})"
    if is_short and earlier:
        yield f"(said after: {quoted_input(earlier[-1].words)[:_LAST]})"


def _older(story: Story, job: Job) -> Iterator[str]:
    """Yield one line for the calls that were not read closely, under the numbers they take."""
    if story.older:
        before = 0 if job.previous is None else last_number(job.previous.record.actions)
        yield tally(story.older, before)


def _rules(story: Story) -> Iterator[str]:
    """Yield the user's sentences that state a rule, the newest kept when there are many."""
    found: dict[str, None] = {}
    for each in reversed(story.rounds):
        for sentence in sentences(each.words[:_READ_OF_MESSAGE]):
            if len(sentence) <= _SENTENCE and is_rule(sentence):
                found.setdefault(sentence)
        if len(found) >= _RULES:
            break
    yield from reversed(list(found)[:_RULES])


def _decisions(story: Story) -> Iterator[str]:
    found: dict[str, None] = {}
    left = _READ_OF_REPLIES
    for reply in reversed(story.replies):
        left -= min(len(reply), _READ_OF_MESSAGE)
        if left < 0 or len(found) >= _DECISIONS:
            break
        for sentence in sentences(reply[:_READ_OF_MESSAGE]):
            if 20 <= len(sentence) <= _SENTENCE and is_decision(sentence):
                found.setdefault(sentence)
    yield from reversed(list(found)[:_DECISIONS])


def _last_words(story: Story, redact: Callable[[str], str]) -> Iterator[str]:
    for reply in story.replies[-3:]:
        yield flat(redact(reply[: _LAST * 6]), _LAST)


def _first_line(text: str, redact: Callable[[str], str]) -> str:
    return flat(redact(text[: _REPLY * 6]), _REPLY)


def _values(evidence: Sequence[Evidence], budget: int) -> Iterator[str]:
    found: dict[str, list[str]] = {kind: [] for kind in _VALUES}
    for each in evidence:
        names = found.get(each.fact.kind)
        if names is not None and len(names) < 2 + budget // _VALUES[each.fact.kind][1]:
            names.append(each.fact.text)
    for kind, names in found.items():
        if names:
            yield f"{_VALUES[kind][0]}: {', '.join(names)}"


def _redacted(record: Record, redact: Callable[[str], str]) -> Record:
    """Return the record with every entry redacted: what is derived is masked like what is sent."""
    entries = {name: tuple(redact(entry) for entry in getattr(record, name)) for name in HEADINGS}
    return replace(record, **entries)
