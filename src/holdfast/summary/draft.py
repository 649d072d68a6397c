"""Everything that a record of some turns could say, and the record that fits.

Turns, an earlier record or another agent's summary, and the answer of a model become statements of
one list. What is true now is worked out here: what later words dropped, corrected or answered is
no longer told as holding.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from itertools import chain
from itertools import count as numbers
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from holdfast.redaction.redactor import redact_all
from holdfast.summary.answer import QUOTES, asks_repeated, joining, see, turns_told, uncovered
from holdfast.summary.cues import (
    is_lasting,
    is_said_of,
    is_standing_rule,
    is_value,
    settles,
    takes_back,
)
from holdfast.summary.provenance import UNVERIFIED
from holdfast.summary.record import HEADINGS, Record, last_number, number_of, render, words_of
from holdfast.summary.selection import StatementSelection, most_tokens
from holdfast.summary.standing import Standing, asked_back, current
from holdfast.summary.state import still_blocked
from holdfast.summary.statements import Origin, Rarity, Statement, StatementKind, is_code, units
from holdfast.summary.story import (
    ASSISTANT,
    PLACES,
    USER,
    announces,
    entry_text,
    is_thin,
    read_entry,
    story_of,
)
from holdfast.summary.tracing import Said, letters, stems
from holdfast.summary.turns import Remark, Turn, masked, read_turns, said_once
from holdfast.transcript.toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from holdfast.summary.checkpoint import Composed, Job

_Place: TypeAlias = tuple[str, int]
_TOKENS_A_DEED, _FEWEST_DEEDS, _MOST_DEEDS = 30, 120, 600
"""Tokens of the budget for each call that is read: a record has no room to tell of more."""
_OF_BUDGET, _FEWEST_CHARACTERS = 8, 40_000
"""Characters of what was said that are read for each token of the budget, and the fewest."""
_RULES, _PASTED = 6, 2_000
"""How many rules halve their worth, and how long a message is whose rules may be a document's."""
_OF_CODE, _OF_FILES = 0.1, 0.2
"""What code in an answer is worth, and beside it a list of files, which it has mostly."""
_TRIES, _CLOSE = 4, 16
"""How often a record is written to fill its budget, and tokens that may be left of it."""
_ANSWERED = "Answered under Completed Actions:"
"""How a line begins that records had once, and that says nothing without them."""
_POINT = re.compile(r" (?=(?:\d{1,2}[.):]|[A-Za-z]\)) )")
"""What stands before a point in the line of a reply."""
_FOCUS, _HINT = 3.0, 1.1
"""How much more a statement is worth that concerns a focus, or what the newest turns are about."""


@dataclass(frozen=True, slots=True)
class RecordDraft:
    """Everything that a record could say, oldest first."""

    statements: tuple[Statement, ...] = ()
    wholes: Mapping[_Place, tuple[str, int]] = field(default_factory=dict[_Place, tuple[str, int]])
    """Entries that others wrote, and how many statements they have where nothing was left out."""
    outdated: tuple[str, ...] = ()
    """What users said and took back later."""
    writer: str = ""
    """The model that wrote most of it; empty where none did."""

    def told(self, shown: Container[int] = ()) -> list[Statement]:
        """Return what is to be told where the messages `shown` stay in the window."""
        return [each for each in self.statements if each.message not in shown]

    def most_tokens(self, count: Callable[[str], int], shown: Container[int] = ()) -> int:
        """Return what a record of everything that is to be told may weigh."""
        return count(render(Record())) + most_tokens(self._recorded(shown), count)

    def record(
        self, budget: int, count: Callable[[str], int], shown: Container[int] = ()
    ) -> tuple[Record, list[Statement]]:
        """Return the record of at most `budget` tokens, and the statements that it makes."""
        return self.fitted(self.selection(budget, count, shown), budget)

    def selection(
        self, budget: int, count: Callable[[str], int], shown: Container[int] = ()
    ) -> StatementSelection:
        """Return the statements that a record of about `budget` tokens has."""
        told = self._recorded(shown)
        return StatementSelection(told, budget - count(render(Record())), count)

    def fitted(
        self, choice: StatementSelection, budget: int, most_tries: int = _TRIES
    ) -> tuple[Record, list[Statement]]:
        """Return the record of a selection that is changed until it fills the budget."""
        best, chosen, most = Record(), list[Statement](), 0
        # What joints and numbers cost is known once the record is written. A record that is too
        # heavy each time goes on shrinking: nothing would stand for the turns otherwise.
        tries, close = 0, max(_CLOSE, budget // 100)
        while tries < most_tries or not most:
            tries += 1
            found = choice.statements
            record = self._written(found)
            left = budget - choice.count(render(record))
            if left >= 0 and budget - left > most:
                best, chosen, most = record, found, budget - left
            if not found or 0 <= left <= close or (left > 0 and choice.is_all):
                break
            if left > 0:
                choice.extend(left)
            else:
                choice.shrink(-left)
        return best, chosen

    def _recorded(self, shown: Container[int]) -> list[Statement]:
        return [each for each in self.told(shown) if each.section in HEADINGS]

    def _written(self, chosen: Sequence[Statement]) -> Record:
        entries: dict[_Place, list[Statement]] = {}
        for each in chosen:
            entries.setdefault((each.section, each.entry), []).append(each)
        sections: dict[str, list[str]] = {name: [] for name in HEADINGS}
        # Entries without a number stand as they came, before those that have one.
        for name, entry in sorted(entries, key=lambda place: (place[1] > 0, abs(place[1]))):
            members = sorted(entries[name, entry], key=lambda each: each.order)
            # Our own lines of a turn may follow those that others wrote.
            own = sum(each.order < PLACES for each in members)
            whole, size = self.wholes.get((name, entry), ("", -1))
            if size == own:
                text = "\n".join(filter(None, [whole, entry_text(members[own:])]))
            elif entry > 0 and name == "actions":
                text = f"{entry}. {entry_text(members)}"
            else:
                text = entry_text(members) + (f" (see {entry // PLACES})" if entry > 0 else "")
            sections[name].append(text)
        return Record(**{name: tuple(found) for name, found in sections.items()})


def draft(job: Job, toolkit: Toolkit | None = None, answer: Composed | None = None) -> RecordDraft:
    """Return what a record of the job could say.

    Where a model wrote an answer of the same turns, what the turns show is put beside it.
    """
    closely = min(max(job.budget // _TOKENS_A_DEED, _FEWEST_DEEDS), _MOST_DEEDS)
    characters = max(job.budget * _OF_BUDGET, _FEWEST_CHARACTERS)
    tools = dataclasses.replace(toolkit or Toolkit(), redact=job.redact)
    turns = read_turns(
        job.whole,
        tools,
        closely,
        job.fresh,
        opens=job.previous is None,
        characters=characters,
        before=_replies(Record() if job.previous is None else job.previous.record),
    )
    turns = masked(said_once(turns), job.redact)
    told = _Drafting(job, turns, None if answer is None else answer.record).draft()
    return told if answer is None else dataclasses.replace(told, writer=answer.model or "a model")


def _replies(record: Record) -> Iterator[str]:
    """Yield how the turns of a record ended, the newest first, each point on a line."""
    for entry in reversed(record.actions):
        for line in entry.split("\n"):
            if line.startswith(f"{ASSISTANT}: "):
                yield _POINT.sub("\n", line)


class _Entries:
    """Entries that a record has, taken apart again."""

    def __init__(self, rarity: Rarity) -> None:
        self.rarity = rarity
        self.ids = numbers(-1, -1)
        self.wholes: dict[_Place, tuple[str, int]] = {}

    def parted(self, entry: str, section: str, origin: Origin = Origin.EARLIER) -> list[Statement]:
        """Return the statements of an entry."""
        number = number_of(entry) if section == "actions" else 0
        key = number or next(self.ids)
        words = words_of(entry) if number else entry
        found = list(read_entry(words, section, self.rarity))
        told: list[Statement] = []
        for each in found or [Statement(StatementKind.DETAIL, entry)]:
            # What was left out before it leaves a gap.
            order = each.order + (told[-1].order + 1 if told else 0)
            told.append(replace(each, section=section, entry=key, order=order, origin=origin))
        # What was done is not told without its ask, nor words without those that took them back.
        if number and (words[:1] in QUOTES or told[0].label == USER):
            told[0] = replace(told[0], is_head=True)
        elif section in ("constraints", "critical") and takes_back(told[-1].text):
            told[-1] = replace(told[-1], is_head=True)
        self.wholes[section, key] = entry, len(told)
        return told


class _Drafting:
    """The statements of one job while they are made."""

    def __init__(self, job: Job, turns: Sequence[Turn], answer: Record | None) -> None:
        self._job = job
        self._turns = turns
        self._answer = answer
        self._previous = Record() if job.previous is None else job.previous.record
        said = (
            words
            for turn in turns
            for words in (*turn.asks, *(e.text for e in turn.steps if isinstance(e, Remark)))
        )
        self._entries = _Entries(Rarity(chain.from_iterable(map(units, said))))
        self._begun: dict[int, int] = {}
        """The numbers of turns that the previous record began to tell of, by their numbers here."""

    def draft(self) -> RecordDraft:
        rarity = self._entries.rarity
        now = Standing(self._job, self._turns, rarity, self._entries.ids)
        before = self._previous if self._answer is None else self._answer
        earlier = list(self._earlier()) if self._answer is None else []
        quoted = self._quoted(earlier, now.past_tasks())
        history = [*quoted, *now.past()] if self._answer is None else []
        last = last_number(before.actions)
        for number, entry in enumerate(history, last + 1):
            earlier += self._entries.parted(f"{number}. {entry}", "actions")
        first = last + len(history) + 1
        task = list(now.task())
        # A task that is told at length is told once.
        told = "" if now.stands_below else letters(" ".join(each.text for each in task))
        story = self._sorted_out(story_of(self._turns, first, rarity), first, told)
        if self._answer is None:
            standing = (*now.goal(), *now.state(), *now.open())
            every = [*task, *standing, *self._continued(earlier, story, first), *now.files()]
        else:
            newer = [turn for turn in self._turns if turn.place >= self._job.fresh]
            repeated = asks_repeated(self._answer, newer)
            written = list(self._written(self._answer, repeated))
            covered = Said([render(self._answer)])
            files = (replace(each, density=each.density * _OF_FILES) for each in now.files())
            known = turns_told(self._answer, self._turns, repeated, first)
            beside = [*now.state(), *now.blocked(), *joining(story, known), *files]
            every = [*task, *written, *uncovered(beside, covered, dict(repeated.values()))]
        statements, outdated = current(every, self._job.fresh)
        # What the turns tell was redacted before it was cut.
        texts = [each.text for each in statements if each.message < 0]
        safe = iter(redact_all(texts, self._job.redact))
        shown = [
            replace(each, text=text)
            if each.message < 0 and (text := next(safe)) != each.text
            else each
            for each in statements
        ]
        weighted = tuple(self._weighted(shown))
        return RecordDraft(weighted, self._entries.wholes, tuple(outdated))

    def _numbered(self, earlier: Sequence[Statement], first: int) -> set[int]:
        """Number the turns that begin or go on in the previous record; return those before it.

        What precedes that record is older: the opening, whose turns were counted when it was
        made, and pinned words. The turn that the last fold cut in two is the last of the record;
        what came of it since has no ask, or one that stayed in the window until now. A reply
        that stayed before such an ask is how the turn before it ended.
        """
        actions = [each for each in earlier if each.section == "actions"]
        asked = {each.text: each.entry for each in reversed(actions) if each.label == USER}
        # What somebody else wrote is not told turn by turn.
        others = {each.entry for each in actions if each.label in {"", UNVERIFIED}}
        without_ask = {each.entry for each in actions} - others.union(asked.values())
        begun, last = self._begun, last_number(self._previous.actions)
        before = set[int]()
        replied = max(asked.values(), default=0)
        for number, turn in enumerate(self._turns, first):
            place, is_older = number - first + 1, turn.place < self._job.fresh
            ask = next(iter(units(turn.asks[0])), "") if turn.asks else ""
            goes_on = last not in others if not ask else last >= place and last in without_ask
            if is_older and ask not in asked:
                begun[number] = place if place in without_ask else next(self._entries.ids)
                before.add(number)
            elif is_older:
                begun[number] = asked[ask]
            elif (
                not ask
                and last in without_ask.difference(begun.values())
                and replied
                and any(each.asks for each in self._turns[place : place + 1])
            ):
                begun[number], replied = replied, 0
            elif goes_on and last and len(begun) == place - 1:
                # Only the first turn after the record can be the rest of one.
                begun[number], last = last, 0
        for entry in {*begun.values()} - others:
            self._entries.wholes.pop(("actions", entry), None)
        return before

    def _continued(
        self, earlier: Sequence[Statement], story: Iterator[Statement], first: int
    ) -> list[Statement]:
        """Put what the turns tell before, into and behind what the previous record tells."""
        before = self._numbered(earlier, first)
        if not self._begun:
            return [*earlier, *story]
        cut = self._begun.keys() - before
        asks = {each.entry: each for each in reversed(earlier) if each.label == USER}
        heads = {id(asks.get(self._begun[number])) for number in cut}
        oldest, newer = list[Statement](), list[Statement]()
        for each in story:
            is_deed = each.section == "actions"
            number, order = (each.entry, each.order) if is_deed else see(each.entry)
            entry = self._begun.get(number, number - len(self._begun))
            if not number:
                newer.append(each)
            elif not is_deed:
                newer.append(replace(each, entry=entry * PLACES + order))
            elif number in before:
                oldest.append(replace(each, entry=entry, order=order - PLACES))
            elif number not in cut:
                newer.append(replace(each, entry=entry))
            elif each.label != USER:
                newer.append(replace(each, entry=entry, order=order + PLACES, is_head=False))
            elif entry not in asks:
                newer.append(replace(each, entry=entry, order=order - PLACES))
        marked = (replace(each, is_head=True) if id(each) in heads else each for each in earlier)
        return [*oldest, *marked, *newer]

    def _quoted(self, earlier: list[Statement], tasks: Iterator[str]) -> Iterator[str]:
        """Put the rest of words that stood beside the story under their turn, and of past tasks.

        Yield what no turn tells.
        """
        asks: dict[int, list[int]] = {}
        for at, each in enumerate(earlier):
            if each.label == USER:
                asks.setdefault(each.entry, []).append(at)
        for words in (*tasks, *reversed(self._job.previous.said if self._job.previous else ())):
            said = units(words)
            # What of their rules and values still holds, the record tells.
            kept = [unit for unit in said if not is_said_of(unit)]
            texts = {
                entry: {earlier[at].text: at for at in places} for entry, places in asks.items()
            }
            entry = next((one for one in reversed(texts) if texts[one].keys() <= {*said}), 0)
            # A sentence that was cut adds nothing to a turn.
            known = texts.get(entry, {})
            missing = [unit for unit in kept if unit not in known and "…" not in unit]
            if not entry and kept:
                yield f'{USER}: "{" ".join(kept)}"'
            if not entry or not missing:
                continue
            self._entries.wholes.pop(("actions", entry), None)
            head = earlier[asks[entry][0]]
            for order, unit in enumerate(said, -PLACES):
                if (at := known.get(unit)) is not None:
                    earlier[at] = replace(earlier[at], order=order)
                elif unit in missing:
                    asks[entry].append(len(earlier))
                    earlier.append(replace(head, text=unit, order=order, is_head=False))

    def _sorted_out(self, story: Iterator[Statement], first: int, task: str) -> Iterator[Statement]:
        """Yield the story, with rules, values and decisions of users in their sections.

        An ask that somebody worked on stays in the story whatever its form, or nobody would know
        what was worked on; an answer to a question says nothing without it. Both are rules besides
        where they say that they hold for good.
        """
        opening = next((turn.place for turn in self._turns if turn.asks), -1)
        whole, headless, unasked = self._job.whole, 0, dict[int, bool]()
        for each in story:
            at, kind, section = each.message, each.kind, "constraints"
            # Rules in a long message may be those of a document.
            if each.label == USER and (at in {opening, -1} or len(whole[at].text) <= _PASTED):
                if is_standing_rule(each.text) and " | " not in each.text:
                    kind = StatementKind.CONSTRAINT
                elif is_value(each.text):
                    kind, section = StatementKind.VALUE, "critical"
                elif settles(each.text):
                    kind, section = StatementKind.DECISION, "decisions"
            if not (stays := kind is each.kind):
                if each.entry not in unasked:
                    place = each.entry - first
                    turn = self._turns[place]
                    answers = place > 0 and asked_back(self._turns[place - 1])
                    said = (unit for ask in turn.asks for unit in units(ask))
                    asked = not all(
                        is_thin(unit) or is_said_of(unit) or settles(unit) for unit in said
                    )
                    unasked[each.entry] = not asked and bool(turn.acts or answers)
                stays, unasked[each.entry] = unasked[each.entry], False
                if each.is_head:
                    headless = 0 if stays else each.entry
            is_told = each.label == USER and not each.is_head and letters(each.text) in task
            if stays and not is_told:
                heads = each.label == USER and each.entry == headless
                yield replace(each, is_head=True) if heads else each
                headless = 0 if heads else headless
            # The record before this one tells what still holds of earlier words.
            if kind is each.kind or at < self._job.fresh:
                continue
            if kind is not StatementKind.CONSTRAINT or not stays or is_lasting(each.text):
                place = section, next(self._entries.ids), each.order, each.density
                shown = at if at >= self._job.head else -1
                yield Statement(kind, each.text, *place, message=shown)

    def _earlier(self) -> Iterator[Statement]:
        """Yield what the previous record says that still stands."""
        record, checkpoint, entries = self._previous, self._job.previous, self._entries
        deeds = (deed for turn in self._turns for deed in turn.deeds)
        earlier = Origin.EARLIER
        for entry in still_blocked(record.blocked, deeds):
            place = "blocked", next(entries.ids), 0, 0.3
            yield Statement(StatementKind.OPEN, entry, *place, origin=earlier)
        for entry in record.files:
            # Notes of ours are made anew; others tell more of a file.
            note = entry.partition(" - ")[2]
            if "\n" in entry or not note.startswith(("read", "changed", "created")):
                yield from entries.parted(entry, "files")
        for section in ("constraints", "decisions", "critical", "actions", "resolved"):
            for entry in getattr(record, section):
                if not entry.startswith(_ANSWERED) and not announces(words_of(entry)):
                    yield from entries.parted(entry, section)
        if checkpoint is not None:
            for words in checkpoint.lasting:
                yield from entries.parted(words, "critical")
            for line in checkpoint.evidence.split("\n"):
                if line.startswith("- "):
                    place = "evidence", next(entries.ids)
                    yield Statement(StatementKind.LOOK, line[2:], *place, origin=earlier)

    def _written(self, answer: Record, asked: Container[str]) -> Iterator[Statement]:
        """Yield what a model wrote, after what it left of the record before; the task is known."""
        before = {words_of(entry) for _, entries in self._previous.sections() for entry in entries}
        pairs = [
            (name, entry)
            for name, entries in answer.sections()
            for entry in entries
            if name != "task" and entry not in asked and not announces(words_of(entry))
        ]
        pairs.sort(key=lambda pair: words_of(pair[1]) not in before)
        for section, entry in pairs:
            for each in self._entries.parted(entry, section):
                if words_of(entry) in before:
                    yield each
                else:
                    density = _OF_CODE if is_code(each.text) else max(each.density, 0.5)
                    yield replace(each, origin=Origin.MODEL, density=density)

    def _weighted(self, statements: Sequence[Statement]) -> list[Statement]:
        """Return the statements with more worth for those that concern a focus.

        A rule has less worth the more rules there are after it.
        """
        focus, factor = (self._job.focus, _FOCUS) if self._job.focus else (self._job.hint, _HINT)
        # What stands in none of them is not looked for in each.
        every = "\n".join([each.text for each in statements]).casefold()
        wanted = [stem for stem in stems(focus) if stem in every]
        found, rules = list[Statement](), 0
        for each in reversed(statements):
            if each.kind is StatementKind.CONSTRAINT and each.origin is not Origin.MODEL:
                rules += 1
                each = each.weighted(1 / (1 + rules / _RULES))
            if wanted and any(map(each.text.casefold().__contains__, wanted)):
                each = each.weighted(factor)
            found.append(each)
        return found[::-1]


def trim(
    record: Record, budget: int, count: Callable[[str], int], *, before: Record | None = None
) -> Record:
    """Return a record within `budget` tokens; the headings alone are the least it can weigh.

    What it says goes by worth, sentence by sentence, the oldest actions first, and what the record
    before it said already goes before what is new.
    """
    if count(render(record)) <= budget:
        return record
    known = {entry for _, entries in (before or Record()).sections() for entry in entries}
    told = [(name, entry) for name, entries in record.sections() for entry in entries]
    parts = _Entries(Rarity(chain.from_iterable(units(entry) for _, entry in told)))
    statements = tuple(
        each
        for name, entry in told
        for each in parts.parted(entry, name, Origin.EARLIER if entry in known else Origin.MODEL)
    )
    return RecordDraft(statements, parts.wholes).record(budget, count)[0]
