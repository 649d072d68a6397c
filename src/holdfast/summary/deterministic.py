"""The record with no model: from what was said, what tools did and what the evidence shows.

It is the embedded default and the last rung when a summarizer fails. Like the written record it
is brought up to date, never nested: numbers go on, files keep their newest state.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from holdfast.summary.brief import user_words
from holdfast.summary.cues import is_decision, rules_in, sentences
from holdfast.summary.deeds import action_lines, tally
from holdfast.summary.masking import redact_all, redacting
from holdfast.summary.provenance import quoted_input
from holdfast.summary.record import Record, last_number
from holdfast.summary.rounds import context_of, exchanges, first_reply
from holdfast.summary.standing import failures, file_notes, plan_left, state_lines
from holdfast.summary.story import CLOSELY, Story, tell
from holdfast.summary.trim import trim
from holdfast.summary.updating import SAID_AFTER, updated
from holdfast.transcript.toolkit import Toolkit, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.facts import Evidence
    from holdfast.summary.asking import Job
    from holdfast.summary.rounds import Context, Exchange

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
_GOAL = 400
_START = 8

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
    toolkit = toolkit or Toolkit()
    story = tell(job.messages, toolkit, closely)
    fresh = _fresh(job, story, evidence)
    previous = Record() if job.previous is None else job.previous.record
    answer = story.opening or first_reply(chain(job.messages, job.after))
    heard = _heard_again(previous.task, story, job)
    record = updated(previous, fresh, _first_line(answer, job.redact), heard)
    left = plan_left(story.deeds, job.after, toolkit)
    if left is not None:
        # A plan that is done leaves nothing, whatever an older one listed.
        record = replace(record, remaining=left)
    return trim(_redacted(record, job.redact), job.budget, job.count)


def _fresh(job: Job, story: Story, evidence: Sequence[Evidence]) -> Record:
    rounds = story.rounds
    task = job.task or (rounds[-1].words if rounds else "")
    opening = job.opening or (rounds[0].words if rounds else "")
    told = exchanges(story, task, job.after)[-_ROUNDS:]
    context = context_of(task, story, job.after)
    redact = redacting(_cut_words(told, context, story, opening), job.redact)
    return Record(
        task=tuple(_newest(task, context, redact)),
        goal=(_whole_words(redact(opening[:_READ_OF_OPENING]), _GOAL),) if opening else (),
        constraints=tuple(_rules(story)),
        actions=(*_older(story, job), *action_lines(story.deeds, redact)),
        state=state_lines(story.deeds),
        in_progress=tuple(_last_words(story, redact)),
        blocked=failures(story.deeds),
        decisions=tuple(_decisions(story)),
        resolved=tuple(
            f"{' and '.join(_asked(each, redact))} - {_first_line(each.reply, redact)}"
            for each in told
            if each.reply
        ),
        pending=tuple(ask for each in told if not each.reply for ask in _asked(each, redact)),
        files=file_notes(story.deeds),
        critical=tuple(_values(evidence, job.budget)),
    )


def _heard_again(task: Sequence[str], story: Story, job: Job) -> list[str]:
    """Return what users said in these turns or after them that may be the task of before."""
    starts = {entry.strip()[:_START] for entry in task}
    if not starts:
        return []
    said = (*(each.words for each in story.rounds), *user_words(job.after))
    again = [quoted_input(words) for words in said if words.strip()[:_START] in starts]
    return list(redact_all(again, job.redact))


def _cut_words(
    told: Sequence[Exchange], context: Context, story: Story, opening: str
) -> Iterator[str]:
    """Yield what is redacted before it is cut, so that all of it is redacted at once."""
    yield opening[:_READ_OF_OPENING]
    yield context.reply[-_LAST * 6 :]
    for each in told:
        yield from (words[:_READ_OF_ASK] for words in each.asks)
        yield each.reply[: _REPLY * 6]
    for reply in story.replies[-3:]:
        yield reply[: _LAST * 6]


def _newest(words: str, context: Context, redact: Callable[[str], str]) -> Iterator[str]:
    """Yield the newest input, and for a short one such as "yes" what it was said to."""
    if not words:
        return
    yield quoted_input(words)
    # Bytes rather than characters: forty characters of Chinese are a whole request.
    is_short = len(words.encode("utf-8", "surrogatepass")) < _SHORT_INPUT
    if is_short and context.reply:
        ending = redact(context.reply[-_LAST * 6 :])[-_LAST:]
        yield f"{SAID_AFTER} the assistant wrote: {flat(ending, _LAST)})"
    if is_short and context.words:
        yield f"{SAID_AFTER}: {quoted_input(context.words)[:_LAST]})"


def _asked(exchange: Exchange, redact: Callable[[str], str]) -> Iterator[str]:
    return (f'"{flat(redact(words[:_READ_OF_ASK]), _ASK)}"' for words in exchange.asks)


def _whole_words(text: str, width: int) -> str:
    """Return the text on one line, cut before a word that does not fit, where words are short."""
    line = flat(text, width)
    if not line.endswith("…"):
        return line
    space = line.rfind(" ", width // 2)
    return f"{line[:space].rstrip()}…" if space > 0 else line


def _older(story: Story, job: Job) -> Iterator[str]:
    """Yield one line for the calls that were not read closely, under the numbers they take."""
    if story.older:
        before = 0 if job.previous is None else last_number(job.previous.record.actions)
        yield tally(story.older, before)


def _rules(story: Story) -> Iterator[str]:
    """Yield the user's sentences that state a rule, the newest kept when there are many."""
    found: dict[str, None] = {}
    for each in reversed(story.rounds):
        for sentence in rules_in(each.words[:_READ_OF_MESSAGE]):
            if len(sentence) <= _SENTENCE:
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
