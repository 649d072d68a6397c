"""The record with no model: from what was said, what tools did and what the evidence shows.

It is the embedded default and the last rung when a summarizer fails. Like the written record it
is brought up to date, never nested: numbers go on, files keep their newest state.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from holdfast.summary.cues import is_decision, is_rule, sentences
from holdfast.summary.deeds import action_lines, tally
from holdfast.summary.masking import redact_all, redacting
from holdfast.summary.provenance import quoted_input
from holdfast.summary.record import Record, last_number
from holdfast.summary.standing import failures, file_notes, plan_left, state_lines
from holdfast.summary.story import CLOSELY, Round, Story, tell
from holdfast.summary.trim import trim
from holdfast.summary.updating import updated
from holdfast.transcript import Role
from holdfast.transcript.toolkit import Toolkit, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.facts import Evidence
    from holdfast.summary.asking import Job
    from holdfast.transcript import Message

__all__ = ["deterministic"]

_READ_OF_MESSAGE = 6_000
_READ_OF_OPENING, _READ_OF_ASK = 4_000, 2_000
_TOKENS_A_DEED = 40
"""Tokens of the budget for each call that is read: a record has no room to tell of more."""
_FEWEST = 120
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
    closely = min(max(job.budget // _TOKENS_A_DEED, _FEWEST), CLOSELY)
    story = tell(job.messages, toolkit or Toolkit(), closely)
    fresh = _fresh(job, story, evidence)
    previous = Record() if job.previous is None else job.previous.record
    answer = story.opening or _first_words(job.messages) or _first_words(job.after)
    record = updated(previous, fresh, _first_line(answer, job.redact))
    return trim(_redacted(record, job.redact), job.budget, job.count)


def _fresh(job: Job, story: Story, evidence: Sequence[Evidence]) -> Record:
    rounds = story.rounds
    task = job.task or (rounds[-1].words if rounds else "")
    opening = job.opening or (rounds[0].words if rounds else "")
    earlier = [each for each in rounds if each.words != task]
    answered, waiting = _settled(earlier, _first_words(job.after))
    redact = redacting(_cut_words(answered, waiting, story, opening), job.redact)
    return Record(
        task=tuple(_newest(story, task, redact)),
        goal=(flat(redact(opening[:_READ_OF_OPENING]), 400),) if opening else (),
        constraints=tuple(_rules(story)),
        actions=(*_older(story, job), *action_lines(story.deeds, redact)),
        state=state_lines(story.deeds),
        in_progress=tuple(_last_words(story, redact)),
        blocked=failures(story.deeds),
        decisions=tuple(_decisions(story)),
        resolved=tuple(
            f'"{flat(redact(each.words[:_READ_OF_ASK]), _ASK)}" - {_first_line(each.reply, redact)}'
            for each in answered[-_ROUNDS:]
        ),
        pending=tuple(
            f'"{flat(redact(each.words[:_READ_OF_ASK]), _ASK)}"' for each in waiting[-_ROUNDS:]
        ),
        files=file_notes(story.deeds),
        remaining=plan_left(story.deeds),
        critical=tuple(_values(evidence, job.budget)),
    )


def _first_words(messages: Sequence[Message]) -> str:
    """Return the first words of the assistant in the messages."""
    own = (each for each in messages if each.role is Role.ASSISTANT and each.synthetic is None)
    return next((text for each in own if (text := each.text).strip()), "")


def _settled(rounds: Sequence[Round], closing: str) -> tuple[list[Round], list[Round]]:
    """Separate asks that were answered from those that still wait.

    An ask is answered by the next words of the assistant, wherever they stand: a user may say
    two things in a row, and the cut may fall between an ask and its answer.
    """
    answered: list[Round] = []
    reply = closing
    for each in reversed(rounds):
        reply = each.reply or reply
        if reply:
            answered.append(Round(each.words, reply))
    return answered[::-1], list(rounds[len(answered) :])


def _cut_words(
    answered: Sequence[Round], waiting: Sequence[Round], story: Story, opening: str
) -> Iterator[str]:
    """Yield what is redacted before it is cut, so that all of it is redacted at once."""
    yield opening[:_READ_OF_OPENING]
    for each in (*answered[-_ROUNDS:], *waiting[-_ROUNDS:]):
        yield each.words[:_READ_OF_ASK]
        yield each.reply[: _REPLY * 6]
    for reply in story.replies[-3:]:
        yield reply[: _LAST * 6]


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
    for reply in reversed(story.replies):
        if len(found) >= _DECISIONS:
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
    masked = iter(
        redact_all([each for _, entries in record.sections() for each in entries], redact)
    )
    return Record(
        **{name: tuple(islice(masked, len(entries))) for name, entries in record.sections()}
    )
