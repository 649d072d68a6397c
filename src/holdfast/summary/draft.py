"""Everything that a record of some turns could say, and the record that fits.

Turns, an earlier record or another agent's summary, and the answer of a model become statements of
one list. What is true now is worked out here: what later words dropped, corrected or answered is
no longer told as holding.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from itertools import count as numbers
from typing import TYPE_CHECKING, NamedTuple

from holdfast.redaction.redactor import redact_all
from holdfast.summary.answer import QUOTES, asks_repeated, joining, see, turns_told, uncovered
from holdfast.summary.cues import is_question, is_said_of, is_standing_rule, is_value
from holdfast.summary.record import HEADINGS, Record, last_number, number_of, render, words_of
from holdfast.summary.selection import StatementSelection
from holdfast.summary.standing import (
    BEGUN,
    SAID_AFTER,
    Standing,
    current,
    is_concluded,
    is_state,
    is_under_way,
)
from holdfast.summary.state import work_of
from holdfast.summary.statements import (
    COLONS,
    Origin,
    Rarity,
    Statement,
    StatementKind,
    is_code,
    units,
)
from holdfast.summary.story import (
    ASSISTANT,
    PLACES,
    USER,
    entry_text,
    narrates,
    read_entry,
    story_of,
)
from holdfast.summary.tracing import Said, letters, stems
from holdfast.summary.turns import Deed, Remark, Turn, masked, read_turns
from holdfast.transcript.effects import Family
from holdfast.transcript.toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from holdfast.summary.checkpoint import Composed, Job

_CLOSELY = (120, 600)
_TOKENS_A_DEED = 30
"""Tokens of the budget for each call that is read: a record has no room to tell of more."""
_OF_BUDGET, _FEWEST_CHARACTERS = 8, 40_000
"""Characters of what was said that are read for each token of the budget, and the fewest."""
_RULES = 6
_OF_CODE, _OF_FILES = 0.1, 0.2
"""What code in an answer is worth, and beside it a list of files, which it has mostly."""
_PASTED = 2_000
_TRIES, _CLOSE = 4, 16
"""How often a record is written to fill its budget, and tokens that may be left of it."""
_ANSWERED = "Answered under Completed Actions:"
_FOCUS, _HINT = 3.0, 1.1
"""How much more a statement is worth that concerns a focus, or what the newest turns are about."""


class Whole(NamedTuple):
    """An entry as it was written, and of how many statements it consists."""

    text: str
    statements: int


@dataclass(frozen=True, slots=True)
class RecordDraft:
    """Everything that a record could say, oldest first."""

    statements: tuple[Statement, ...] = ()
    wholes: Mapping[tuple[str, int], Whole] = field(default_factory=dict[tuple[str, int], Whole])
    """Entries that others wrote, which are not taken apart where there is room for all of them."""
    questions: tuple[int, ...] = ()
    """The entries of the story in which a question of the user is answered."""
    outdated: tuple[str, ...] = ()
    """What users said and took back later."""
    writer: str = ""
    """The model that wrote most of it; empty where none did."""

    def told(self, shown: Container[int] = ()) -> list[Statement]:
        """Return what is to be told where the messages `shown` stay in the window."""
        return [each for each in self.statements if each.message not in shown]

    def record(
        self, budget: int, count: Callable[[str], int], shown: Container[int] = ()
    ) -> tuple[Record, list[Statement]]:
        """Return the record of at most `budget` tokens, and the statements that it makes."""
        told = [each for each in self.told(shown) if each.section in HEADINGS]
        best, chosen, most = Record(), list[Statement](), 0
        choice = StatementSelection(told, budget - count(render(best)), count)
        # What joints and numbers cost is known once the record is written. A record that is too
        # heavy each time goes on shrinking: nothing would stand for the turns otherwise.
        tries, close = 0, max(_CLOSE, budget // 100)
        while tries < _TRIES or not most:
            tries += 1
            found = choice.statements
            record = self._written(found)
            left = budget - count(render(record))
            if left >= 0 and budget - left > most:
                best, chosen, most = record, found, budget - left
            if not found or 0 <= left <= close or (left > 0 and len(found) == len(told)):
                break
            if left > 0:
                choice.extend(left)
            else:
                choice.shrink(-left)
        return best, chosen

    def _written(self, chosen: Sequence[Statement]) -> Record:
        entries: dict[tuple[str, int], list[Statement]] = {}
        for each in chosen:
            entries.setdefault((each.section, each.entry), []).append(each)
        sections: dict[str, list[str]] = {name: [] for name in HEADINGS}
        for key, members in sorted(entries.items(), key=_place):
            whole = self.wholes.get(key)
            # Our own lines of a turn may follow those that others wrote.
            own = [each for each in members if each.order < PLACES]
            is_whole = whole is not None and whole.statements == len(own)
            text = entry_text(members)
            if whole is not None and is_whole:
                lines = [whole.text, entry_text(members[len(own) :])]
                text = "\n".join(filter(None, lines))
            if not is_whole and key[1] > 0 and key[0] == "actions":
                text = f"{key[1]}. {text}"
            elif not is_whole and key[1] > 0:
                text = f"{text} (see {key[1] // PLACES})"
            sections[key[0]].append(text)
        told = {each.entry for each in chosen if each.label == ASSISTANT}
        answered = [str(number) for number in self.questions if number in told]
        if answered:
            sections["resolved"].append(f"{_ANSWERED} {', '.join(answered)}")
        return Record(**{name: tuple(found) for name, found in sections.items()})


def _place(item: tuple[tuple[str, int], list[Statement]]) -> tuple[int, int]:
    """Order entries: those without a number as they came, then by number."""
    entry = item[0][1]
    return (0, -entry) if entry <= 0 else (1, entry)


def draft(job: Job, toolkit: Toolkit | None = None, answer: Composed | None = None) -> RecordDraft:
    """Return what a record of the job could say.

    Where a model wrote an answer of the same turns, what the turns show is put beside it.
    """
    fewest, most = _CLOSELY
    closely = min(max(job.budget // _TOKENS_A_DEED, fewest), most)
    characters = max(job.budget * _OF_BUDGET, _FEWEST_CHARACTERS)
    tools = replace(toolkit or Toolkit(), redact=job.redact)
    is_first = job.previous is None
    turns = read_turns(job.whole, tools, closely, job.fresh, opens=is_first, characters=characters)
    turns = masked(_said_once(turns), job.redact)
    told = _Drafting(job, turns, None if answer is None else answer.record).draft()
    return told if answer is None else replace(told, writer=answer.model or "a model")


def _said_once(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns without what was sent again: a plan as a request, or words to no effect."""
    once: list[Turn] = []
    for turn in reversed(turns):
        asked = dict(zip(turn.asks, turn.places, strict=True))
        steps = [_titled(step, once) if isinstance(step, Deed) else step for step in turn.steps]
        once.append(replace(turn, asks=list(asked), places=list(asked.values()), steps=steps))
    once.reverse()
    pairs = zip_longest(once, once[1:])
    return [turn for turn, after in pairs if after is None or turn.steps or not _again(turn, after)]


def _titled(deed: Deed, later: Sequence[Turn]) -> Deed:
    """Return a plan without its text where a later request has all of it."""
    plan = letters(deed.action.content) if deed.action.family is Family.PLAN else ""
    asks = (ask for turn in later for ask in turn.asks if plan and len(ask) >= len(plan))
    if not any(plan in letters(ask) for ask in asks):
        return deed
    title = deed.action.content.strip().partition("\n")[0]
    return replace(deed, action=replace(deed.action, content=title))


def _again(turn: Turn, after: Turn) -> bool:
    words = " ".join(after.asks)
    return bool(turn.asks) and not turn.older and all(ask.strip() in words for ask in turn.asks)


class _Drafting:
    """The statements of one job while they are made."""

    def __init__(self, job: Job, turns: Sequence[Turn], answer: Record | None) -> None:
        self._job = job
        self._turns = turns
        self._answer = answer
        self._previous = Record() if job.previous is None else job.previous.record
        self._ids = numbers(-1, -1)
        self._wholes: dict[tuple[str, int], Whole] = {}
        self._rarity = Rarity(self._units())
        self._begun: dict[int, int] = {}
        """The numbers of turns that the previous record began to tell of, by their numbers here."""

    def draft(self) -> RecordDraft:
        now = Standing(self._job, self._turns, self._rarity, self._ids)
        before = self._previous if self._answer is None else self._answer
        history = list(self._history()) if self._answer is None else []
        last = last_number(before.actions)
        first = last + len(history) + 1
        task = list(now.task())
        # A task that is told at length is told once.
        told = "" if now.stands_below else letters(" ".join(each.text for each in task))
        story = self._sorted_out(story_of(self._turns, first, self._rarity), told)
        if self._answer is None:
            earlier = list(self._earlier())
            for number, entry in enumerate(history, last + 1):
                earlier += self._parted(f"{number}. {entry}", "actions")
            earlier, story = self._continued(earlier, list(story), first)
            fixed = [*task, *now.goal(), *now.state(), *now.open()]
            every = [*fixed, *earlier, *story, *now.files()]
        else:
            newer = [turn for turn in self._turns if turn.place >= self._job.fresh]
            repeated = asks_repeated(self._answer, newer)
            written = list(self._written(self._answer, repeated))
            covered = Said([render(self._answer)])
            files = (replace(each, density=each.density * _OF_FILES) for each in now.files())
            known = turns_told(self._answer, self._turns, repeated, first)
            beside = [*now.state(), *now.blocked(), *joining(story, known), *files]
            fresh = list(uncovered(beside, covered, dict(repeated.values())))
            every = [*task, *written, *fresh]
        statements = current(every, self._job.fresh)
        standing = set(map(id, statements))
        outdated = tuple(each.text for each in every if id(each) not in standing)
        # What the turns tell was redacted before it was cut.
        texts = [each.text for each in statements if each.message < 0]
        masked = iter(redact_all(texts, self._job.redact))
        safe = [
            replace(each, text=text)
            if each.message < 0 and (text := next(masked)) != each.text
            else each
            for each in statements
        ]
        focused = self._focused(_fewer_rules(safe))
        questions = [
            self._begun.get(number, number)
            for number, turn in enumerate(self._turns, first)
            if turn.asks and is_question(turn.asks[-1]) and is_concluded(turn)
        ]
        return RecordDraft(tuple(focused), self._wholes, tuple(questions), outdated)

    def _continued(
        self, earlier: list[Statement], story: list[Statement], first: int
    ) -> tuple[list[Statement], list[Statement]]:
        """Put more of a turn that the previous record tells of under the number that it has there.

        The words of the user stayed in the window while the turn went on; what came of them since
        is a turn without an ask.
        """
        asked = {each.text: each for each in reversed(earlier) if each.label == USER}
        begun = {
            each.entry: asked[each.text]
            for each in story
            if each.is_head and each.message < self._job.fresh and each.text in asked
        }
        begun |= {
            number + 1: ask
            for number, ask in begun.items()
            if number - first + 1 < len(self._turns) and not self._turns[number - first + 1].asks
        }
        goes_on: list[Statement] = []
        for each in story:
            number, order = (each.entry, 0) if each.section == "actions" else see(each.entry)
            if number not in begun:
                goes_on.append(each)
            elif each.section != "actions":
                goes_on.append(replace(each, entry=begun[number].entry * PLACES + order))
            elif each.label != USER:
                known, place = begun[number].entry, each.order + PLACES
                goes_on.append(replace(each, entry=known, order=place, is_head=False))
        self._begun = {number: ask.entry for number, ask in begun.items()}
        for number in self._begun.values():
            self._wholes.pop(("actions", number), None)
        heads = set(map(id, begun.values()))
        marked = [replace(each, is_head=True) if id(each) in heads else each for each in earlier]
        return marked, goes_on

    def _units(self) -> Iterator[str]:
        for turn in self._turns:
            for words in turn.asks:
                yield from units(words)
            for step in turn.steps:
                if isinstance(step, Remark):
                    yield from units(step.text)

    def _sorted_out(self, story: Iterator[Statement], task: str) -> Iterator[Statement]:
        """Yield the story, with what belongs to another section in that section."""
        opening = next((turn.place for turn in self._turns if turn.asks), -1)
        for each in story:
            if each.label == USER and not each.is_head and letters(each.text) in task:
                continue
            if each.label != USER or (each.message != opening and self._is_pasted(each.message)):
                yield each
                continue
            if is_standing_rule(each.text):
                moved = StatementKind.CONSTRAINT, "constraints"
            elif is_value(each.text):
                moved = StatementKind.VALUE, "critical"
            else:
                yield each
                continue
            if each.message < self._job.fresh:
                # The record before this one tells what still holds of it.
                continue
            yield replace(
                each,
                kind=moved[0],
                section=moved[1],
                entry=next(self._ids),
                label="",
                is_head=False,
                message=each.message if each.message >= self._job.head else -1,
            )

    def _is_pasted(self, message: int) -> bool:
        """Say whether a message is so long that rules in it may be those of a document."""
        return message >= 0 and len(self._job.whole[message].text) > _PASTED

    def _history(self) -> Iterator[str]:
        """Yield what the previous record told as present and what is past by now."""
        asks = (" ".join(ask.split()) for turn in self._turns for ask in turn.asks)
        heard = "".join(f"\n{ask}\n" for ask in asks)
        asked = self._previous.task if heard else ()
        for entry in asked:
            # A long one was shortened, and its turn tells all of it.
            begins, cut, _ = " ".join(entry.split()).partition("…")
            known = f"\n{begins}" if cut else f"\n{begins}\n"
            if not entry.startswith(SAID_AFTER) and known not in heard:
                yield f'User: "{entry}"'
        for entry in self._previous.in_progress:
            if not is_under_way(entry) and BEGUN not in entry:
                yield f"Then under way: {entry}"
        yield from (f"Stood then: {entry}" for entry in self._previous.state if not is_state(entry))
        for words in reversed(self._job.previous.said) if self._job.previous else ():
            # What of their rules and values still holds, the record tells.
            if kept := " ".join(unit for unit in units(words) if not is_said_of(unit)):
                yield f'User: "{kept}"'

    def _earlier(self) -> Iterator[Statement]:
        """Yield what the previous record says that still stands."""
        record = self._previous
        checkpoint = self._job.previous
        deeds = (deed for turn in self._turns for deed in turn.deeds)
        done = (deed for deed in deeds if not deed.failed and not deed.rejected)
        settled = {" ".join(work) for deed in done for work in work_of(deed)}
        for entry in record.blocked:
            if not any(work in entry for work in settled):
                yield Statement(
                    StatementKind.OPEN,
                    entry,
                    "blocked",
                    next(self._ids),
                    density=0.3,
                    origin=Origin.EARLIER,
                )
        for entry in record.files:
            if not _is_note(entry):
                yield from self._parted(entry, "files")
        for section in ("constraints", "decisions", "critical", "actions", "resolved"):
            for entry in getattr(record, section):
                if not entry.startswith(_ANSWERED) and not _announces(words_of(entry)):
                    yield from self._parted(entry, section)
        if checkpoint is not None:
            for words in checkpoint.lasting:
                yield from self._parted(words, "critical")
            for line in checkpoint.evidence.split("\n"):
                if line.startswith("- "):
                    yield Statement(
                        StatementKind.LOOK,
                        line[2:],
                        "evidence",
                        next(self._ids),
                        origin=Origin.EARLIER,
                    )

    def _written(self, answer: Record, asked: Container[str]) -> Iterator[Statement]:
        """Yield what a model wrote, after what it left of the record before; the task is known."""
        before = {words_of(entry) for _, entries in self._previous.sections() for entry in entries}
        pairs = [
            (name, entry)
            for name, entries in answer.sections()
            for entry in entries
            if name != "task" and entry not in asked and not _announces(words_of(entry))
        ]
        pairs.sort(key=lambda pair: words_of(pair[1]) not in before)
        for section, entry in pairs:
            parts = self._parted(entry, section)
            if words_of(entry) in before:
                yield from parts
            else:
                for each in parts:
                    density = _OF_CODE if is_code(each.text) else max(each.density, 0.5)
                    yield replace(each, origin=Origin.MODEL, density=density)

    def _parted(self, entry: str, section: str) -> Iterator[Statement]:
        """Yield the statements of an entry that was written before."""
        found = parted(entry, section, self._rarity, self._ids)
        self._wholes[section, found[0].entry] = Whole(entry, len(found))
        return iter(found)

    def _focused(self, statements: Sequence[Statement]) -> list[Statement]:
        """Return the statements with more worth for those that concern a focus."""
        focus, factor = (self._job.focus, _FOCUS) if self._job.focus else (self._job.hint, _HINT)
        # What stands in none of them is not looked for in each.
        every = "\n".join([each.text for each in statements]).casefold()
        wanted = [stem for stem in stems(focus) if stem in every]
        if not wanted:
            return list(statements)
        return [
            each.weighted(factor) if any(map(each.text.casefold().__contains__, wanted)) else each
            for each in statements
        ]


def parted(entry: str, section: str, rarity: Rarity, ids: Iterator[int]) -> list[Statement]:
    """Return the statements of an entry that a record has."""
    number = number_of(entry) if section == "actions" else 0
    key = number or next(ids)
    words = words_of(entry) if number else entry
    found = list(read_entry(words, section, rarity)) or [Statement(StatementKind.DETAIL, entry)]
    told = [
        replace(each, section=section, entry=key, order=order, origin=Origin.EARLIER)
        for order, each in enumerate(found)
    ]
    if number and words[:1] in QUOTES:
        # What was done is not told without the ask that it begins with.
        told[0] = replace(told[0], is_head=True)
    return told


def trim(
    record: Record, budget: int, count: Callable[[str], int], *, before: Record | None = None
) -> Record:
    """Return a record within `budget` tokens; the headings alone are the least it can weigh.

    What it says goes by worth, sentence by sentence, the oldest actions first, and what the record
    before it said already goes before what is new.
    """
    if count(render(record)) <= budget:
        return record
    every = [entry for _, entries in record.sections() for entry in entries]
    known = {entry for _, entries in (before or Record()).sections() for entry in entries}
    rarity = Rarity(chain.from_iterable(map(units, every)))
    ids = numbers(-1, -1)
    statements: list[Statement] = []
    wholes: dict[tuple[str, int], Whole] = {}
    for section, entries in record.sections():
        for entry in entries:
            found = parted(entry, section, rarity, ids)
            wholes[section, found[0].entry] = Whole(entry, len(found))
            if entry not in known:
                found = [replace(each, origin=Origin.MODEL) for each in found]
            statements += found
    return RecordDraft(tuple(statements), wholes).record(budget, count)[0]


def _announces(entry: str) -> bool:
    """Say whether an entry is narration that only announces what follows."""
    return entry.endswith(COLONS) and narrates(entry)


def _is_note(entry: str) -> bool:
    """Say whether an entry on a file is one of ours; others tell more of it."""
    note = entry.partition(" - ")[2]
    return "\n" not in entry and note.startswith(("read", "changed", "created"))


def _fewer_rules(statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements with less worth for rules the more there are, the oldest first."""
    found: list[Statement] = []
    rules = 0
    for each in reversed(statements):
        if each.kind is StatementKind.CONSTRAINT and each.origin is not Origin.MODEL:
            rules += 1
            each = each.weighted(1 / (1 + rules / _RULES))
        found.append(each)
    return found[::-1]
