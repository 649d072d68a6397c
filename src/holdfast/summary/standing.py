"""What holds now: the task, the goal, the state, what is open, and which words still stand.

A record is read as the present. What was finished, dropped, answered or corrected later, also in
the messages that stay in the window, is told as history or not at all.

A reply answers what it follows. What it puts off stays open until a later reply says that it is
done, or a user drops it. What another request interrupted is under way until a reply concludes
both. All of this goes on where an earlier record left off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from holdfast.summary.actions import told
from holdfast.summary.choices import titles
from holdfast.summary.cues import (
    ANSWERS,
    CONSTRAINT,
    DEFERS,
    DONE,
    DROPS,
    GOAL,
    LEFT,
    RECONSIDERS,
    REVOKES,
    given_value,
    is_question,
    is_said_of,
    words_in,
)
from holdfast.summary.provenance import UNVERIFIED, unverified
from holdfast.summary.record import Record
from holdfast.summary.state import Files, failures, file_notes, state_lines
from holdfast.summary.statements import COLONS, Origin, Statement, StatementKind, clip_words, units
from holdfast.summary.story import USER, narrates
from holdfast.summary.tracing import marks, overlap, stems
from holdfast.summary.turns import Remark
from holdfast.transcript import Role, newest_user, said_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.summary.checkpoint import Job
    from holdfast.summary.cues import Wording
    from holdfast.summary.statements import Rarity
    from holdfast.summary.turns import Deed, Turn

_TASK, _SHORTEST_TASK, _TASK_OF_BUDGET = 600, 160, 0.6
"""Characters of the task: the most, the fewest, and those for each token of the record."""
_FOLDED_TASK, _FOLDED_TASK_OF_BUDGET = 8_000, 1.0
"""The same where the task does not stay in the window: its end counts as much as its beginning."""
_LAST_STEPS = 3
_NEWEST_FILES = 6
_SHORT_INPUT = 40
_IN_A_ROW = 4
"""Messages of a user without an answer, of which more are a history."""
_ALIKE = 0.5
UNDER_WAY = "The newest request, which stands below, is being worked on"
_FOLDED_UNDER_WAY = "The newest request is being worked on"
"""The same of a request that does not stay in the window."""
_SAME = 0.75
_LOOKED_AT = 200
"""How many rules and values later words are held against, the newest."""
_STANDING = (StatementKind.CONSTRAINT, StatementKind.VALUE, StatementKind.DECISION)
SAID_AFTER = "(said after"
"""How a note begins that says what a short input was said to; it is nobody's task."""
_STATES = (
    *("Directory", "Branch", "Commits", "Last check", "Started in the background", "Tests"),
    *("Changed", "Changed, not committed", "Changed since the last check", "Committed, not pushed"),
)

BEGUN = "Asked before, not concluded: "
"""How an entry begins that tells an ask which another one interrupted."""
_SHORT_REPLY = 400
_SHOWN = 200
_MOST = 40
"""How many asks are held open at a time, the newest."""
_WHOLLY = 10
"""What it counts when an ask has all that a sentence is about."""


def is_state(line: str) -> bool:
    """Say whether a line of an earlier record tells what commands showed."""
    return line.partition(": ")[0] in _STATES


def is_under_way(entry: str) -> bool:
    """Say whether an entry of an earlier record tells what was done last about its task."""
    return entry.startswith((UNDER_WAY, _FOLDED_UNDER_WAY))


class Standing:
    """What the turns of a job leave standing, as statements that are entries of their own."""

    def __init__(self, job: Job, turns: Sequence[Turn], rarity: Rarity, ids: Iterator[int]) -> None:
        """Read the turns; `ids` numbers the entries."""
        self._job = job
        self._turns = turns
        self._rarity = rarity
        self._ids = ids
        self._previous = Record() if job.previous is None else job.previous.record
        self._fresh = [turn for turn in turns if turn.place >= job.fresh]
        self._newest = next((turn for turn in reversed(turns) if turn.asks), None)

    @cached_property
    def _deeds(self) -> list[Deed]:
        return [deed for turn in self._fresh for deed in turn.deeds if not deed.rejected]

    def _alone(
        self, kind: StatementKind, text: str, section: str, density: float = 1.0, message: int = -1
    ) -> Statement:
        """Return a statement that is an entry of its own.

        What precedes the folded turns stays in the window, and does not show what became of it.
        """
        place = message if message >= self._job.head else -1
        return Statement(kind, text, section, next(self._ids), 0, density, message=place)

    def task(self) -> Iterator[Statement]:
        """Yield the user's newest input that is not fulfilled, and what a short one was said to."""
        turn = self._newest
        if turn is None:
            for entry in self._previous.task:
                yield self._alone(StatementKind.OPEN, entry, "task")
            return
        if is_concluded(turn):
            return
        words = turn.asks[-1]
        yield self._alone(StatementKind.OPEN, self._shortened(words), "task")
        at = self._turns.index(turn)
        before = self._turns[at - 1] if at else None
        # Bytes rather than characters: forty characters of Chinese are a whole request.
        if len(words.encode("utf-8", "surrogatepass")) >= _SHORT_INPUT or before is None:
            return
        if before.reply is not None and (said := units(before.reply.text)):
            named = f"{titles(turn.chosen)}; " if turn.chosen else ""
            note = f"{SAID_AFTER} the assistant wrote: {named}{clip_words(said[-1], 300)})"
            yield replace(self._alone(StatementKind.OPEN, note, "task"), message=before.reply.place)

    @cached_property
    def stands_below(self) -> bool:
        """Say whether the newest request stays in the window, and not the output of a command."""
        whole = self._job.whole
        newest = newest_user(whole)
        if newest is None or not whole[newest].text:
            return newest is not None
        opens = all(each.role is not Role.ASSISTANT for each in whole[:newest])
        return bool(said_at(whole, newest, opens=opens))

    def _shortened(self, words: str) -> str:
        """Return a task for the record, in which it must not take the room of the rest."""
        budget = self._job.budget
        if self.stands_below:
            width = min(_TASK, max(_SHORTEST_TASK, int(budget * _TASK_OF_BUDGET)))
            short = f"{clip_words(words, width // 2)} (and more, below)"
        else:
            width = min(_FOLDED_TASK, max(_SHORTEST_TASK, int(budget * _FOLDED_TASK_OF_BUDGET)))
            cut = " ".join(words[-width // 3 :].split())
            # Not every language has blanks to cut at.
            ending = cut.partition(" ")[2] or cut
            short = f"{clip_words(words, width - len(ending))} {ending}"
        return words if len(words) <= width else short

    def goal(self) -> Iterator[Statement]:
        """Yield the goal that a user named last, or that was known, or what was asked first."""
        named = [unit for unit in _asked_in(self._fresh) if _has(GOAL, unit)]
        named = [unit for unit in named if not is_question(unit)]
        if named:
            yield self._alone(StatementKind.STATE, named[-1], "goal")
            return
        dropped = [unit for unit in _asked_in(self._turns) if _has(DROPS, unit)]
        known = [
            self._reconsidered(entry)
            for entry in self._previous.goal
            if not any(overlap(entry, unit) >= _ALIKE for unit in dropped)
        ]
        parts = [part for entry in known for part in _goal_parts(entry)]
        for part in parts[:2]:
            yield self._alone(StatementKind.STATE, part, "goal")
        for part in parts[2:]:
            stated = self._alone(StatementKind.ASK, part, "goal", self._rarity.density(part))
            yield replace(stated, origin=Origin.EARLIER)
        if not known and (opening := self._opening()):
            goal = self._reconsidered(opening)
            yield self._alone(StatementKind.STATE, clip_words(goal, 300), "goal")

    def _reconsidered(self, goal: str) -> str:
        """Return what a user wanted in the place of a goal after thinking again, or the goal."""
        for unit in _asked_in(self._turns):
            if _has(RECONSIDERS, unit) and overlap(goal, unit) >= _ALIKE:
                goal = unit
        return goal

    def _opening(self) -> str:
        """Return what was asked first; rules and values are no goal, a word or two hardly."""
        opening = ""
        # Of a few messages in a row the last says what is wanted; examples may stand before it.
        # Many in a row are what an agent kept of all that was said, and the first comes first.
        for asks in (turn.asks for turn in self._turns if turn.asks):
            ask = asks[0 if len(asks) > _IN_A_ROW else -1]
            parts = [unit for unit in units(ask) if not is_said_of(unit)]
            # Words that only announce say nothing without what they announce.
            told = (at for at in range(2, len(parts)) if not parts[at - 1].endswith(COLONS))
            opening = " ".join(parts[: next(told, None)]) or opening
            if len(opening.encode("utf-8", "surrogatepass")) >= _SHORT_INPUT // 2:
                break
        return opening

    def state(self) -> Iterator[Statement]:
        """Yield how things stand, as far as commands showed it."""
        parts = (line.partition(": ") for line in self._previous.state if is_state(line))
        known = {name: value for name, _, value in parts}
        for name, value in state_lines(self._deeds, known).items():
            if value:
                yield self._alone(StatementKind.STATE, f"{name}: {value}", "state")

    def files(self) -> Iterator[Statement]:
        """Yield a note on each file, the newest last and worth most."""
        files = Files(self._deeds)
        notes = {note.partition(" - ")[0]: (note, changed) for note, changed in file_notes(files)}
        for line in self._previous.files:
            path, _, note = line.partition(" - ")
            if path not in notes or (
                not notes[path][1] and note.startswith(("changed", "created"))
            ):
                notes = {path: (line, note.startswith(("changed", "created"))), **notes}
        for place, (note, changed) in enumerate(notes.values()):
            newer = len(notes) - place - 1
            kind, density = (StatementKind.CHANGE, 0.9) if changed else (StatementKind.LOOK, 0.6)
            yield self._alone(kind, note, "files", density / (1 + newer / _NEWEST_FILES))

    def open(self) -> Iterator[Statement]:
        """Yield what is blocked, under way, asked for and left to do."""
        yield from self.blocked()
        yield from self._under_way()
        yield from self._asked()
        yield from self._planned()

    def blocked(self) -> Iterator[Statement]:
        """Yield what failed and has not worked since."""
        for line, place in failures(self._deeds):
            yield self._alone(StatementKind.OPEN, line, "blocked", 0.4, place)

    def _under_way(self) -> Iterator[Statement]:
        turn = self._newest
        if turn is None or is_concluded(turn) or not turn.steps:
            return
        last: dict[str, None] = {}
        for step in reversed(turn.steps):
            if isinstance(step, Remark):
                said = [unit for unit in units(step.text) if not narrates(unit)]
                last |= {f'"{clip_words(said[-1], 160)}"': None} if said else {}
            elif (line := told(step)) is not None and line.kind is not StatementKind.LOOK:
                last[f"{line.verb} {clip_words(line.line, 120)}"] = None
            if len(last) >= _LAST_STEPS:
                break
        if last:
            stated = UNDER_WAY if self.stands_below else _FOLDED_UNDER_WAY
            begun = self._alone(StatementKind.OPEN, stated, "in_progress", 0.3)
            yield begun
            # Where the newest step stays in the window, it shows what was done last.
            text, place = f"- last: {'; '.join(reversed(last))}", turn.steps[-1].place
            yield replace(begun, text=text, order=1, message=place)

    def _asked(self) -> Iterator[Statement]:
        """Yield asks that nobody answered and nobody took back, but for the task."""
        newest = self._newest
        task = newest.place if newest is not None and not is_concluded(newest) else None
        asked = open_asks(self._fresh, self._previous)
        newest_ask = next((each for each in reversed(asked) if each.message == task), None)
        for each in asked:
            if each is newest_ask or (each.section == "remaining" and self._job.plan):
                continue
            text = f"{BEGUN}{each.text}" if each.section == "in_progress" else each.text
            stated = self._alone(StatementKind.OPEN, text, each.section, 0.4, each.message)
            yield stated if each.message >= 0 else replace(stated, origin=Origin.EARLIER)

    def _planned(self) -> Iterator[Statement]:
        plan = self._job.plan
        left = sum(not item.is_done for item in plan)
        if left:
            text = f"{left} of {len(plan)} plan items are not done: see the Live State"
            yield self._alone(StatementKind.OPEN, text, "remaining")


def current(statements: Sequence[Statement], fresh: int = 0) -> list[Statement]:
    """Return the statements without rules and values that later words of a user took back.

    A rule goes when it is dropped or lifted; a value when the same subject gets another. Words
    before the message `fresh` were weighed when the record before this one was written.
    """
    gone: set[int] = set()
    standing: list[int] = []
    for at, each in enumerate(statements):
        is_users = each.label == USER or each.kind in (
            StatementKind.CONSTRAINT,
            StatementKind.VALUE,
        )
        if is_users and each.origin is Origin.TURNS and not 0 <= each.message < fresh:
            cue, value = _lifting(each.text), given_value(each.text)
            if cue is not None or value is not None:
                known = {place: statements[place].text for place in standing[-_LOOKED_AT:]}
                gone.update(_lifted(each.text, cue, known), _corrected(value, known))
        if each.kind in _STANDING and each.section != "actions":
            standing.append(at)
    return [each for at, each in enumerate(statements) if at not in gone]


def _lifting(text: str) -> Wording | None:
    words = words_in(text)
    return next((cue for cue in (REVOKES, DROPS) if cue.stands_in(text, words)), None)


def _lifted(text: str, cue: Wording | None, known: Mapping[int, str]) -> list[int]:
    """Return which rules a user's words lift: those that have most of what the words are about."""
    if cue is None:
        return []
    about = cue.pattern.sub(" ", text)
    alike = {
        place: overlap(about, CONSTRAINT.pattern.sub(" ", rule))
        for place, rule in known.items()
        if rule != text
    }
    best = max(alike.values(), default=0.0)
    return [place for place, share in alike.items() if share == best >= _ALIKE]


def _corrected(new: tuple[str, str] | None, known: Mapping[int, str]) -> list[int]:
    """Return which statements give another value to what a user's words give a value to."""
    if new is None:
        return []
    values = ((place, given_value(each)) for place, each in known.items())
    return [
        place
        for place, old in values
        if old is not None and old[1] != new[1] and _same(old[0], new[0])
    ]


def _same(one: str, other: str) -> bool:
    first, second = stems(one), stems(other)
    return len(first & second) >= _SAME * len(first | second) > 0


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """An ask that is open, and the section of the record that tells of it."""

    text: str
    section: Literal["in_progress", "pending", "remaining"]
    message: int = -1
    """The message it stands in; -1 where an earlier record told of it."""


def open_asks(turns: Sequence[Turn], before: Record) -> list[OpenAsk]:
    """Return what is open after the turns, oldest first, the newest ask of all included."""
    found: list[OpenAsk] = [
        *(OpenAsk(entry, "remaining") for entry in before.remaining),
        *(OpenAsk(entry, "pending") for entry in before.pending),
        *(
            OpenAsk(entry.removeprefix(BEGUN), "in_progress")
            for entry in before.in_progress
            if entry.startswith(BEGUN)
        ),
    ]
    for turn in turns:
        for unit in _asked_in([turn]):
            if _has(DROPS, unit):
                is_bare = not stems(DROPS.pattern.sub(" ", unit))
                gone = found[-1:] if is_bare else _named(unit, DROPS, found)
                found = [each for each in found if each not in gone]
        new = [_asked(words, turn.place) for words in turn.asks if marks(words)]
        known = {each.text for each in new}
        found = [each for each in found if each.message >= 0 or each.text not in known]
        found = _replied(turn, [*found, *new])[-_MOST:]
    return found


def _asked(words: str, place: int) -> OpenAsk:
    # Bytes rather than characters: a request in Chinese takes a third of them.
    width = _SHOWN * len(words) // len(words.encode("utf-8", "surrogatepass"))
    return OpenAsk(f'"{clip_words(words, width)}"', "in_progress", place)


def _replied(turn: Turn, found: list[OpenAsk]) -> list[OpenAsk]:
    """Return what is still open after the words that concluded a turn."""
    if turn.reply is None or turn.interrupted or not found:
        return found
    left: list[OpenAsk] = []
    said = units(turn.reply.text)
    has_work = any(each.section == "remaining" for each in found)
    for unit in said:
        if has_work:
            # What an earlier record left as work is in its words, which are the assistant's own.
            found = [
                each
                for each in found
                if each.section != "remaining" or overlap(each.text, unit) < _ALIKE
            ]
        words = words_in(unit)
        if LEFT.stands_in(unit, words):
            left += _named(unit, LEFT, found)
        elif cue := next((each for each in (ANSWERS, DONE) if each.stands_in(unit, words)), None):
            gone = _named(unit, cue, found)
            found = [each for each in found if each not in gone]
    if _puts_off(turn):
        left += [each for each in found if each.message == turn.place]
    elif said and not narrates(said[-1]):
        found = [each for each in found if each.section != "in_progress" or each in left]
    return [replace(each, section="pending") if each in left else each for each in found]


def _named(unit: str, cue: Wording, found: Sequence[OpenAsk]) -> list[OpenAsk]:
    """Return the asks that a sentence is about: those that have most of what tells it apart."""
    told = marks(unit)
    about = stems(cue.pattern.sub(" ", unit.partition(":")[0].partition("\uff1a")[0]))
    about = frozenset(each for each in about if not each.isdecimal())
    scores = [
        len(told & marks(each.text)) + _WHOLLY * bool(about and about <= stems(each.text))
        for each in found
    ]
    best = max(scores, default=0)
    return [each for each, score in zip(found, scores, strict=True) if score == best > 0]


def _goal_parts(entry: str) -> list[str]:
    """Return the sentences of a goal, each of which says if nobody knows who wrote it."""
    if not entry.startswith(UNVERIFIED):
        return units(entry)
    return [unverified(unit) for unit in units(entry.removeprefix(f"{UNVERIFIED}: "))]


def _asked_in(turns: Sequence[Turn]) -> Iterator[str]:
    """Yield what users said in the turns, sentence by sentence."""
    return (unit for turn in turns for words in turn.asks for unit in units(words))


def _has(cue: Wording, text: str) -> bool:
    return cue.stands_in(text, words_in(text))


def is_concluded(turn: Turn) -> bool:
    """Say whether the assistant ended the turn with an answer rather than a question or a plan."""
    if turn.reply is None:
        return False
    said = units(turn.reply.text)
    return (
        bool(said) and not narrates(said[-1]) and not is_question(said[-1]) and not _puts_off(turn)
    )


def _puts_off(turn: Turn) -> bool:
    """Say whether the reply is short and only promises."""
    if turn.reply is None or len(turn.reply.text) > _SHORT_REPLY:
        return False
    return _has(DEFERS, turn.reply.text) and not _has(DONE, turn.reply.text)
