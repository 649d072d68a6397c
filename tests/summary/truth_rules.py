"""What a record may and must say of a session whose truth is known.

A rule yields what breaks it, in words that name the event and the entry. The record tells how
things stand at the end of the window: what was finished or corrected in the turns that stay is
finished and corrected for the record too.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from holdfast import Compaction, Folded
from holdfast.summary import Checkpoint, read_checkpoint
from holdfast.summary.record import HEADINGS
from tests.summary.truth_phrases import Phrases
from tests.summary.truth_state import Ask, Fact, Truth

_OPEN = ("task", "in_progress", "blocked", "pending", "remaining")
_CURRENT = ("constraints", "state", "goal", "critical", "decisions")
_IS_DONE = re.compile(r"\[(?:completed|complete|done|finished|closed|cancelled|canceled)\]")
_ELLIPSIS = re.compile(r"…|\.\.\.")
_LAST_WORD = re.compile(r"[^\W_]+$")
_CONTEXT = 24
_BEGINNING = 60


@dataclass(frozen=True, slots=True)
class Told:
    """What was said since a session began, of which the window is what is left."""

    source: str
    newest: str
    """What the user said last."""
    phrases: Phrases


@dataclass(frozen=True, slots=True)
class View:
    """A window after a fold, as one reads it."""

    checkpoint: Checkpoint
    text: str
    """The text of the summary."""
    beside: tuple[str, ...]
    """The words of all other messages, and the arguments of their calls."""
    after: tuple[str, ...]
    """Those of them that follow the summary."""
    messages: list[dict[str, Any]]
    told: Told

    def section(self, name: str) -> tuple[str, ...]:
        return getattr(self.checkpoint.record, name)

    @property
    def open(self) -> tuple[tuple[str, str], ...]:
        """Return all that is told as open: entries, each with where it stands."""
        live = (line for line in self.checkpoint.live.split("\n") if not _IS_DONE.search(line))
        sections = [(name, entry) for name in _OPEN for entry in self.section(name)]
        # In parentheses stands what the task was said to, which may be finished.
        told = (each for each in sections if each[0] != "task" or not each[1].startswith("("))
        return (*told, *(("live", line) for line in live))


def view(result: Compaction, told: Told) -> View:
    """Return what there is to read in a window that was folded."""
    assert isinstance(result.outcome, Folded), result.outcome
    text = next(each.summary.text for each in result.outcome.transcript if each.summary)
    messages: list[dict[str, Any]] = result.messages
    at = next(place for place, each in enumerate(messages) if text in (each["content"] or ""))
    beside = [words_of(each) for each in messages]
    beside[at] = beside[at].partition(text)[2]
    return View(read_checkpoint(text), text, tuple(beside), tuple(beside[at:]), messages, told)


def words_of(message: dict[str, Any]) -> str:
    """Return what a message says, and the arguments of its calls."""
    calls = [call["function"]["arguments"] for call in message.get("tool_calls", ())]
    return "\n".join([message["content"] or "", *calls])


Rule: TypeAlias = Callable[[Truth, View], Iterator[str]]


def holds(text: str, marker: str) -> bool:
    """Say whether a text has a marker in it, not as a part of a longer word or number."""
    sought, there = _plain(marker), _plain(text)
    if sought not in there:
        return False
    pattern = rf"(?<![0-9a-z])(?<!\d\.){re.escape(sought)}(?![0-9a-z]|\.\d)"
    return re.search(pattern, there) is not None


@lru_cache(maxsize=20_000)
def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def all_headings_are_there(_: Truth, view: View) -> Iterator[str]:
    found = [line[3:] for line in view.text.split("\n") if line.startswith("## ")]
    wanted = list(HEADINGS.values())
    if found[: len(wanted)] != wanted:
        yield f"the headings are {found}"


def the_newest_user_message_follows_verbatim(_: Truth, view: View) -> Iterator[str]:
    at = next(n for n, each in enumerate(view.messages) if view.text in (each["content"] or ""))
    later = [each["content"] for each in view.messages[at + 1 :] if each["role"] == "user"]
    merged = view.messages[at]["content"].partition(view.text)[2]
    if view.told.newest not in later and not merged.endswith(f"\n{view.told.newest}"):
        yield f"{view.told.newest!r} does not follow the summary"


def the_task_is_what_the_user_waits_for(truth: Truth, view: View) -> Iterator[str]:
    beginning = truth.waiting[:_BEGINNING]
    if not any(beginning in entry for entry in view.section("task") or ("",)):
        yield f"the user waits for {truth.waiting!r}, and task says {view.section('task')}"


def the_current_goal_is_named(truth: Truth, view: View) -> Iterator[str]:
    goal = truth.goal
    if goal and not any(holds(entry, goal.now) for entry in view.section("goal")):
        yield f"the goal is {goal.now!r}, and Goal says {view.section('goal')}"


def nothing_finished_is_told_as_open(truth: Truth, view: View) -> Iterator[str]:
    over = {text for text, _ in truth.plan}.difference(truth.items_left())
    # An ask that is open may name what is closed ("commit it"), and so may what closed it.
    excuses = (*(ask.request for ask in truth.asks), *truth.dropping)
    for name, entry in view.open:
        if not any(holds(entry, words) for words in excuses):
            yield from (
                f"{subject!r} is closed, and {name} says {entry!r}"
                for subject in (*truth.closed, *over)
                if holds(entry, subject)
            )


def everything_open_is_told(truth: Truth, view: View) -> Iterator[str]:
    for ask in truth.asks:
        told = any(holds(entry, ask.subject) for _, entry in view.open)
        if not told and not any(ask.words in words for words in view.beside):
            yield f"{ask.request!r} is open, and nothing says so"
    for text in truth.items_left():
        told = (*(entry for _, entry in view.open), *view.beside)
        if not any(holds(words, text) for words in told):
            yield f"{text!r} is left of the plan, and nothing says so"


def nothing_open_is_told_as_finished(truth: Truth, view: View) -> Iterator[str]:
    for entry in view.section("resolved"):
        yield from (
            f"{ask.request!r} is open, and resolved says {entry!r}"
            for ask in truth.asks
            if _is_resolved(entry, ask)
        )
    done = [line for line in view.checkpoint.live.split("\n") if _IS_DONE.search(line)]
    for text in truth.items_left():
        yield from (
            f"{text!r} is left of the plan, and live says {line!r}"
            for line in done
            if holds(line, text)
        )


def _is_resolved(entry: str, ask: Ask) -> bool:
    """Say whether an entry tells an ask as done; the answer to another may mention it."""
    asked, separator, _ = entry.partition(" - ")
    mentioned = bool(separator) and holds(asked, ask.subject) and not ask.returned
    return mentioned or holds(entry, ask.request)


def answers_belong_to_their_questions(truth: Truth, view: View) -> Iterator[str]:
    for entry in view.section("resolved"):
        there = {answer.exact for answer in truth.answers if holds(entry, answer.exact)}
        for answer in truth.answers:
            if answer.exact in there or not holds(entry, answer.request):
                continue
            if there:
                yield f"{answer} has the answer of another: {entry!r}"
            elif view.told.phrases.later in entry:
                yield f"{answer} has a promise for an answer: {entry!r}"


def nothing_superseded_is_told_as_current(truth: Truth, view: View) -> Iterator[str]:
    for fact in _facts(truth):
        for name in _CURRENT:
            yield from _told_as_current(fact, name, view.section(name))
    for result in truth.outdated:
        yield from (
            f"{result!r} was before the newest run, and state says {entry!r}"
            for entry in view.section("state")
            if holds(entry, result)
        )


def _facts(truth: Truth) -> tuple[Fact, ...]:
    return (truth.goal, *truth.facts) if truth.goal else truth.facts


def _told_as_current(
    fact: Fact, name: str, entries: tuple[str, ...], most: int | None = None
) -> Iterator[str]:
    """Yield which of the first entries say what held before, and no later one puts it right."""
    for place, entry in enumerate(entries[:most]):
        for old in fact.past:
            if holds(entry, old) and not any(holds(each, fact.now) for each in entries[place:]):
                yield f"{fact.topic!r} is {fact.now!r} now, and {name} says {entry!r}"


def values_that_hold_are_told(truth: Truth, view: View) -> Iterator[str]:
    for fact in truth.facts:
        if not any(holds(words, fact.now) for words in (view.text, *view.beside)):
            yield f"{fact.topic!r} is {fact.now!r}, and nothing says so"


def revoked_rules_are_not_listed(truth: Truth, view: View) -> Iterator[str]:
    for bound in truth.bounds:
        if not bound.revocation:
            continue
        yield from (
            f"{bound.words!r} was revoked, and constraints say {entry!r}"
            for entry in view.section("constraints")
            if holds(entry, bound.area) and not holds(entry, bound.revocation)
        )


def rules_that_hold_are_listed(truth: Truth, view: View) -> Iterator[str]:
    listed = (*view.section("constraints"), *view.checkpoint.lasting, *view.beside)
    for bound in truth.bounds:
        words = bound.words.rstrip(".。")
        if not bound.revocation and not any(holds(each, words) for each in listed):
            yield f"{bound.words!r} holds, and nothing says so"


def blockers_are_told(truth: Truth, view: View) -> Iterator[str]:
    for block in truth.blockers:
        told = (*view.section("blocked"), *view.beside)
        if not any(holds(each, block.error) for each in told):
            yield f"{block} stands in the way, and nothing says so"


def standing_words_still_stand(truth: Truth, view: View) -> Iterator[str]:
    # What users said stands in its order, and what they said last follows the summary.
    quotes = (*view.checkpoint.lasting, *view.after)
    for fact in _facts(truth):
        yield from _told_as_current(fact, "lasting", quotes, len(view.checkpoint.lasting))
    for bound in truth.bounds:
        for place, quote in enumerate(view.checkpoint.lasting if bound.revocation else ()):
            revoked = any(holds(each, bound.revocation) for each in quotes[place:])
            if holds(quote, bound.area) and not revoked:
                yield f"{bound.words!r} was revoked, and lasting says {quote!r}"


def the_evidence_tells_nothing_outdated(truth: Truth, view: View) -> Iterator[str]:
    for line in view.checkpoint.evidence.split("\n"):
        for fact in truth.facts:
            old = [each for each in fact.past if holds(line, each)]
            if old and not holds(line, fact.now):
                yield f"{fact.topic!r} is {fact.now!r} now, and the evidence says {line!r}"
        for bound in truth.bounds:
            if bound.revocation and holds(line, bound.words.rstrip(".。")):
                yield f"{bound.words!r} was revoked, and the evidence says {line!r}"


def changed_files_are_told_from_committed_ones(truth: Truth, view: View) -> Iterator[str]:
    state = view.section("state")
    for path in truth.changed:
        if not any(holds(each, path) for each in (*state, *view.beside)):
            yield f"{path} is not committed, and state does not name it"
    for path in {each.path for each in truth.commits}.difference(truth.changed):
        commits = [each for each in truth.commits if each.path == path]
        named = [words for each in commits for words in (each.id, each.title)]
        yield from (
            f"{commits[-1]} is a commit, and state says {entry!r}"
            for entry in state
            if holds(entry, path) and not any(holds(entry, words) for words in named)
        )


def no_entry_is_cut_inside_a_word(_: Truth, view: View) -> Iterator[str]:
    record = view.checkpoint.record
    entries = [entry for name in HEADINGS for entry in getattr(record, name)]
    for entry in (*entries, *view.checkpoint.lasting, *view.checkpoint.said):
        for mark in _ELLIPSIS.finditer(entry):
            before = entry[: mark.start()].rstrip("\"'[( ")
            if not _ends_whole(before, view):
                yield f"a word is cut in {entry!r}"


def _ends_whole(before: str, view: View) -> bool:
    """Say whether a text that was cut ends with a word of its source, not with a part of one."""
    last = _LAST_WORD.search(before)
    if last is None or not _is_spelled(before[-1]):
        return not before.endswith("_")
    source, end = view.told.source, before[-_CONTEXT:]
    follows = [source[at + len(end) :][:1] for at in _places(source, end)]
    if follows:
        return not all(letter == "_" or _is_spelled(letter) for letter in follows)
    # Words of our own: they are whole if they stand uncut elsewhere.
    word = rf"(?<![^\W_]){re.escape(last[0])}(?![^\W_]|…|\.\.\.)"
    return re.search(word, f"{source}\n{view.text}") is not None


def _places(source: str, words: str) -> Iterator[int]:
    at = source.find(words)
    while at >= 0:
        yield at
        at = source.find(words, at + 1)


def _is_spelled(letter: str) -> bool:
    """Say whether words with this letter are several letters long, unlike Chinese ones."""
    return letter.isalnum() and ord(letter) < 0x2E80


RULES: tuple[Rule, ...] = (
    all_headings_are_there,
    the_newest_user_message_follows_verbatim,
    nothing_finished_is_told_as_open,
    nothing_open_is_told_as_finished,
    answers_belong_to_their_questions,
    nothing_superseded_is_told_as_current,
    revoked_rules_are_not_listed,
    standing_words_still_stand,
    the_evidence_tells_nothing_outdated,
    no_entry_is_cut_inside_a_word,
    the_task_is_what_the_user_waits_for,
    the_current_goal_is_named,
    everything_open_is_told,
    values_that_hold_are_told,
    rules_that_hold_are_listed,
    blockers_are_told,
    changed_files_are_told_from_committed_ones,
)
HARMLESS = RULES[:10]
"""The rules that a record of any size can keep: it may be short of room, never wrong."""
