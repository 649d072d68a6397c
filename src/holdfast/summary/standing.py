"""What holds now: the task, the goal, the state, what is open, and which words still stand.

A record is read as the present. What was finished, dropped, answered or corrected later, also in
the messages that stay in the window, is told as history or not at all.

A reply answers what it follows. What it puts off stays open until a later reply says that it is
done, or a user drops it. What another request interrupted is under way until a reply concludes
both. All of this goes on where an earlier record left off.
"""

from __future__ import annotations

from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.summary import cues
from holdfast.summary.actions import FAILED, told
from holdfast.summary.choices import titles
from holdfast.summary.provenance import UNVERIFIED, unverified
from holdfast.summary.record import Record
from holdfast.summary.state import Files, failed_work, failures, file_notes, state_lines, work_of
from holdfast.summary.statements import COLONS, Origin, Statement, StatementKind, clip_words, units
from holdfast.summary.story import ASSISTANT, PLACES, USER, narrates
from holdfast.summary.tracing import marks, overlap, roots, stems
from holdfast.summary.turns import Remark
from holdfast.transcript import Role, newest_user, said_at
from holdfast.transcript.effects import Family

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.summary.checkpoint import Job
    from holdfast.summary.statements import Rarity
    from holdfast.summary.turns import Turn

_SHORTEST_TASK, _TASK, _FOLDED_TASK = 160, (600, 0.6), (8_000, 1.0)
"""Characters of the task: the fewest, the most and those for each token of the record where it
stays in the window, and where it does not."""
_GOAL, _OF_BUDGET, _OF_PAST = (80, 300), 0.3, 0.2
"""Characters of a goal that nobody named, the fewest and the most and those for each token of the
record, and what one that is reached is worth: it goes before no rule and no value."""
_LAST_STEPS, _NEWEST_FILES, _SHORT_INPUT, _SHORT_REPLY = 3, 6, 40, 400
_ALIKE, _SAME = 0.5, 0.75
_IN_A_ROW, _STALE = 4, 3
"""Messages of a user without an answer, of which more are a history, and turns that are concluded
beside a plan until that is told."""
_UNDER_WAY = (
    "The newest request is being worked on",
    "The newest request, which stands below, is being worked on",
)
"""How it is told that a task was begun, without and with the task in the window."""
_ANSWERED = "The newest request, which stands below, is answered: see the end of Completed Actions"
"""What is told where the reply to it does not stay in the window."""
_ASKED = "The newest request has a reply, in which the assistant asked: "
"""How it is told that the reply to a task ends with a question."""
_OF_QUESTION = 300
_LOOKED_AT = 200
"""How many rules and values later words are held against, the newest."""
_SAID_AFTER = "(said after"
"""How a note begins that says what a short input was said to; it is nobody's task."""
_STATES = (
    *("Directory", "Branch", "Commits", "Last check", "Started in the background", "Tests"),
    *("Changed", "Changed, not committed", "Changed since the last check", "Committed, not pushed"),
)
"""The lines of the state that tell what commands showed."""
_BEGAN = "Began with: "
"""How a goal begins that nobody named: what was asked first, and is done."""
BEGUN = "Asked before, not concluded: "
"""How an entry begins that tells an ask which another one interrupted."""
_SHOWN, _MOST = 200, 40
"""Bytes of an ask that is open, and how many are held open at a time, the newest."""
_WHOLLY, _PARTLY = 10, 2
"""What it counts when one has all that another is about, and when it is surely about some of it."""
_HOLDING = (StatementKind.CONSTRAINT, StatementKind.VALUE)


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
        self._deeds = [deed for turn in self._fresh for deed in turn.deeds if not deed.rejected]
        parts = (line.partition(": ") for line in self._previous.state)
        known = {name: value for name, _, value in parts if name in _STATES}
        self._files = Files(self._deeds, known)
        newest = next((turn for turn in reversed(turns) if turn.asks), None)
        self._newest = newest
        self._open = None if newest is None or is_concluded(newest) else newest

    def _alone(
        self, kind: StatementKind, text: str, section: str, density: float = 1.0, message: int = -1
    ) -> Statement:
        """Return a statement that is an entry of its own.

        What precedes the folded turns stays in the window, and does not show what became of it.
        """
        place = message if message >= self._job.head else -1
        return Statement(kind, text, section, next(self._ids), 0, density, message=place)

    def past_tasks(self) -> Iterator[str]:
        """Yield the tasks of the previous record that the turns do not tell."""
        asks = (" ".join(ask.split()) for turn in self._turns for ask in turn.asks)
        heard = "".join(f"\n{ask}\n" for ask in asks)
        for entry in self._previous.task if heard else ():
            # A long one was shortened, and its turn tells all of it.
            begins, cut, _ = " ".join(entry.split()).partition("…")
            known = f"\n{begins}" if cut else f"\n{begins}\n"
            if not entry.startswith(_SAID_AFTER) and known not in heard:
                yield entry

    def past(self) -> Iterator[str]:
        """Yield what else the previous record told as present and what is past by now."""
        for entry in self._previous.in_progress:
            if BEGUN not in entry and not entry.startswith((*_UNDER_WAY, _ANSWERED, _ASKED)):
                yield f"Then under way: {entry}"
        for line in self._previous.state:
            if line.partition(": ")[0] not in _STATES:
                yield f"Stood then: {line}"

    @cached_property
    def stands_below(self) -> bool:
        """Say whether the newest request stays in the window, and not the output of a command."""
        whole = self._job.whole
        newest = newest_user(whole)
        if newest is None or not whole[newest].text:
            return newest is not None
        opens = all(each.role is not Role.ASSISTANT for each in whole[:newest])
        return bool(said_at(whole, newest, opens=opens))

    def task(self) -> Iterator[Statement]:
        """Yield the user's newest input that is not fulfilled, and what a short one was said to.

        It must not take the room of the rest.
        """
        for entry in self._previous.task if self._newest is None else ():
            yield self._alone(StatementKind.OPEN, entry, "task")
        turn = self._open
        if turn is None:
            return
        words = short = turn.asks[-1]
        most, share = _TASK if self.stands_below else _FOLDED_TASK
        width = min(most, max(_SHORTEST_TASK, int(self._job.budget * share)))
        if len(words) > width and self.stands_below:
            short = f"{clip_words(words, width // 2)} (and more, below)"
        elif len(words) > width:
            # Its end counts as much as its beginning. Not every language has blanks to cut at.
            cut = " ".join(words[-width // 3 :].split())
            ending = cut.partition(" ")[2] or cut
            short = f"{clip_words(words, width - len(ending))} {ending}"
        yield self._alone(StatementKind.OPEN, short, "task")
        before = self._turns[max(self._turns.index(turn) - 1, 0)]
        # Bytes rather than characters: forty characters of Chinese are a whole request.
        is_short = len(words.encode("utf-8", "surrogatepass")) < _SHORT_INPUT
        if is_short and before is not turn and before.reply and (said := units(before.reply.text)):
            named = f"{titles(turn.chosen)}; " if turn.chosen else ""
            note = f"{_SAID_AFTER} the assistant wrote: {named}{clip_words(said[-1], 300)})"
            yield replace(self._alone(StatementKind.OPEN, note, "task"), message=before.reply.place)

    def goal(self) -> Iterator[Statement]:
        """Yield the goal that a user named last, or that was known, or what was asked first."""
        named = [unit for unit in _asked_in(self._fresh) if cues.GOAL.stands_in(unit)]
        named = [unit for unit in named if not cues.is_question(unit)]
        if named:
            yield self._alone(StatementKind.STATE, named[-1], "goal")
            return
        dropped = [unit for unit in _asked_in(self._turns) if cues.DROPS.stands_in(unit)]
        known = [
            self._reconsidered(entry)
            for entry in self._previous.goal
            if not any(overlap(entry, unit) >= _ALIKE for unit in dropped)
        ]
        parts: list[str] = []
        for entry in known:
            # Each sentence says for itself if nobody knows who wrote it.
            said = units(entry.removeprefix(f"{UNVERIFIED}: "))
            parts += map(unverified, said) if entry.startswith(UNVERIFIED) else said
        if parts and self._is_past(parts[0]):
            parts[0] = f"{_BEGAN}{parts[0]}"
        for part in parts[:2]:
            density = _OF_PAST if part.startswith(_BEGAN) else 1.0
            yield self._alone(StatementKind.STATE, part, "goal", density)
        for part in parts[2:]:
            stated = self._alone(StatementKind.ASK, part, "goal", self._rarity.density(part))
            yield replace(stated, origin=Origin.EARLIER)
        if known:
            return
        opening, since = "", list(self._turns)
        # Of a few messages in a row the last says what is wanted; examples may stand before it.
        # Many in a row are what an agent kept of all that was said, and the first comes first.
        for turn in (turn for turn in self._turns if turn.asks):
            asks, since = turn.asks, since[since.index(turn) :]
            ask = asks[0 if len(asks) > _IN_A_ROW else -1]
            # Rules and values are no goal, and a word or two hardly.
            wanted = [unit for unit in units(ask) if not cues.is_said_of(unit)]
            # Words that only announce say nothing without what they announce.
            told = (at for at in range(2, len(wanted)) if not wanted[at - 1].endswith(COLONS))
            opening = " ".join(wanted[: next(told, None)]) or opening
            if len(opening.encode("utf-8", "surrogatepass")) >= _SHORT_INPUT // 2:
                break
        if opening:
            goal = self._reconsidered(opening)
            is_past = since[0] is not self._newest and is_concluded(since[0])
            began, density = (_BEGAN, _OF_PAST) if is_past and goal is opening else ("", 1.0)
            width = min(_GOAL[1], max(_GOAL[0], int(self._job.budget * _OF_BUDGET)))
            text = f"{began}{clip_words(goal, width)}"
            yield self._alone(StatementKind.STATE, text, "goal", density)

    def _is_past(self, goal: str) -> bool:
        """Say whether a goal is an ask that was concluded in the previous record, and not named."""
        entries = self._previous.actions[:-1]
        asked = (entry for entry in entries if f'{USER}: "{goal}' in entry)
        concluded = any(f"\n{ASSISTANT}: " in entry for entry in asked)
        return concluded and not cues.GOAL.stands_in(goal)

    def _reconsidered(self, goal: str) -> str:
        """Return what a user wanted in the place of a goal after thinking again, or the goal."""
        for unit in _asked_in(self._turns):
            if cues.RECONSIDERS.stands_in(unit) and overlap(goal, unit) >= _ALIKE:
                goal = unit
        return goal

    def state(self) -> Iterator[Statement]:
        """Yield how things stand, as far as commands showed it."""
        for name, value in state_lines(self._files).items():
            if value:
                yield self._alone(StatementKind.STATE, f"{name}: {value}", "state")

    def files(self) -> Iterator[Statement]:
        """Yield a note on each file, the newest last and worth most."""
        notes: dict[str, tuple[str, bool]] = {}
        for line in self._previous.files:
            path, _, note = line.partition(" - ")
            if not self._files.is_gone(path):
                notes[path] = (line, note.startswith(("changed", "created")))
        for note, changed in file_notes(self._files):
            path = note.partition(" - ")[0]
            # That a file was changed still counts when it is read again.
            known = notes.pop(path, (note, changed))
            notes[path] = known if known[1] and not changed else (note, changed)
        for place, (note, changed) in enumerate(notes.values()):
            newer = len(notes) - place - 1
            kind, density = (StatementKind.CHANGE, 0.9) if changed else (StatementKind.LOOK, 0.6)
            yield self._alone(kind, note, "files", density / (1 + newer / _NEWEST_FILES))

    def blocked(self) -> Iterator[Statement]:
        """Yield what failed and has not worked since, nor was left behind when other work went on.

        What a turn with a reply ended with stays until it works: the reply says so. Of one without
        a reply, the next one that is concluded leaves it behind.
        """
        for line, place in failures(self._deeds):
            later = [turn for turn in self._fresh if turn.place > place]
            turn = self._fresh[-len(later) - 1]
            went_on = filter(is_concluded, later if turn.reply is None else [turn])
            if not any(_worked(each, place, failed_work(line)) for each in went_on):
                yield self._alone(StatementKind.OPEN, line, "blocked", 0.4, place)

    def _under_way(self) -> Iterator[Statement]:
        """Yield how far the newest request is: answered, answered by a question, or begun."""
        turn, newest, section = self._open, self._newest, "in_progress"
        if turn is None and newest and newest.reply and self.stands_below:
            # Nobody said this, so that an audit does not look for it.
            yield self._alone(StatementKind.TOLD, _ANSWERED, section, 8.0, newest.reply.place)
        if turn is None:
            return
        if turn.reply and (question := asked_back(turn)):
            text = f'{_ASKED}"{clip_words(question, _OF_QUESTION)}"'
            yield self._alone(StatementKind.OPEN, text, section, 0.3, turn.reply.place)
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
            begun = self._alone(StatementKind.OPEN, _UNDER_WAY[self.stands_below], section, 0.3)
            yield begun
            # Where the newest step stays in the window, it shows what was done last.
            text = f"- last: {'; '.join(reversed(last))}"
            yield replace(begun, text=text, order=1, message=turn.steps[-1].place)

    def open(self) -> Iterator[Statement]:
        """Yield what is blocked, under way, asked for and left to do.

        Asks are told that nobody answered and nobody took back, but for the task.
        """
        yield from self.blocked()
        yield from self._under_way()
        turn, plan = self._open, self._job.plan
        asked = open_asks(self._fresh, self._previous)
        task = next((each for each in reversed(asked) if turn and each.message == turn.place), None)
        for each in asked:
            if each is not task and not (each.section == "remaining" and plan):
                text = f"{BEGUN}{each.text}" if each.section == "in_progress" else each.text
                stated = self._alone(each.kind, text, each.section, 0.4, each.message)
                yield replace(stated, origin=each.origin)
        if left := sum(not item.is_done for item in plan):
            ended = list(takewhile(lambda turn: not _plans(turn), reversed(self._fresh)))
            concluded = sum(map(is_concluded, ended))
            text = f"{left} of {len(plan)} plan items are not done: see the Live State"
            if concluded >= _STALE:
                # Agents write a plan and forget it.
                text = f"{text}; {concluded} turns were concluded since the plan was last written"
            yield self._alone(StatementKind.OPEN, text, "remaining")


def current(statements: Sequence[Statement], fresh: int) -> tuple[list[Statement], set[str]]:
    """Return what stands after the later words of users, and the words that are outdated.

    In doubt both stand: what takes back follows what it is about in the same entry, which is not
    told without it. Words before `fresh` were weighed when the record before this was written.
    """
    now, gone, outdated, standing = list(statements), set[int](), set[str](), list[int]()
    for at, each in enumerate(statements):
        says = (each.label == USER or each.kind in _HOLDING) and not cues.is_question(each.text)
        if says and each.origin is Origin.TURNS and not 0 <= each.message < fresh:
            weighs = cues.takes_back(each.text) or cues.given_value(each.text)
            known = set(standing[-_LOOKED_AT:] if weighs else ()) - gone
            taken = {place: _taken_back(now[place], each.text) for place in known}
            gone |= {place for place, share in taken.items() if share == _WHOLLY}
            share, place = max(((taken[at], at) for at in known - gone), default=(0, 0))
            if share:
                old = now[place]
                outdated.add(old.text)
                # What an earlier record told stands whole, and more of it on a line of its own.
                line = old.order + (PLACES if old.origin is Origin.EARLIER else 1)
                now[at] = replace(old, text=each.text, order=line, is_head=True, origin=each.origin)
        if now[at].kind in (*_HOLDING, StatementKind.DECISION) and now[at].section != "actions":
            standing.append(at)
    left = [each for at, each in enumerate(now) if at not in gone]
    return left, outdated | {now[at].text for at in gone}.difference(each.text for each in left)


def _taken_back(old: Statement, text: str) -> int | float:
    """Return how much of what stands later words of a user take back: `_WHOLLY`, or less.

    They lift a rule by naming what it names and no more, and replace a value that is all that was
    said: a prohibition or a value that is lost costs more than one that is told beside them.
    """
    holds = old.kind in _HOLDING
    new, known = cues.given_value(text), cues.given_value(old.text)
    if old.text == text:
        return _WHOLLY * holds
    if new and known and new[1] != known[1] and cues.named_in(new[0]) == cues.named_in(known[0]):
        return _WHOLLY if known[2] else _PARTLY * holds
    if not cues.takes_back(text):
        return 0
    lifts, named, whole = cues.REVOKES.stands_in(text), cues.named_in(text), cues.named_in(old.text)
    if lifts and old.kind is StatementKind.CONSTRAINT and named and set(named) <= set(whole):
        return _WHOLLY if named == whole else _PARTLY
    about, words = " ".join(named), " ".join(whole)
    share = overlap(about, words)
    if not holds:
        return _WHOLLY * (share >= _SAME and (lifts or cues.DROPS.stands_in(text)))
    if lifts and old.kind is StatementKind.CONSTRAINT and roots(about) & roots(words):
        return max(share, _ALIKE)
    # One word that both have, as "use", says nothing, unless it is all that is dropped.
    both = len(stems(about) & stems(words))
    return share * (share >= _ALIKE and (both > 1 or cues.DROPS.stands_in(text)))


def open_asks(turns: Sequence[Turn], before: Record) -> list[Statement]:
    """Return what is open after the turns, oldest first, the newest ask of all included.

    The section says how an ask is open: another interrupted it, it was put off, or it was planned.
    """
    found: list[Statement] = [
        Statement(StatementKind.OPEN, entry.removeprefix(BEGUN), section, origin=Origin.EARLIER)
        for section in ("remaining", "pending", "in_progress")
        for entry in getattr(before, section)
        if section != "in_progress" or entry.startswith(BEGUN)
    ]
    for turn in turns:
        for unit in _asked_in([turn]):
            if cues.DROPS.stands_in(unit):
                is_bare = not stems(cues.DROPS.pattern.sub(" ", unit))
                gone = found[-1:] if is_bare else _named(unit, cues.DROPS, found)
                found = [each for each in found if each not in gone]
        new: list[Statement] = []
        for words in filter(marks, turn.asks):
            # Bytes rather than characters: a request in Chinese takes a third of them.
            width = _SHOWN * len(words) // len(words.encode("utf-8", "surrogatepass"))
            ask = f'"{clip_words(words, width)}"'
            new.append(Statement(StatementKind.OPEN, ask, "in_progress", message=turn.place))
        known = {each.text for each in new}
        found = [each for each in found if each.message >= 0 or each.text not in known]
        found = _replied(turn, [*found, *new])[-_MOST:]
    return found


def _replied(turn: Turn, found: list[Statement]) -> list[Statement]:
    """Return what is still open after the words that concluded a turn."""
    if turn.reply is None or turn.interrupted or not found:
        return found
    left: list[Statement] = []
    said = units(turn.reply.text)
    for unit in said:
        # What an earlier record left as work is in its words, which are the assistant's own.
        found = [
            each
            for each in found
            if each.section != "remaining" or overlap(each.text, unit) < _ALIKE
        ]
        if cues.LEFT.stands_in(unit):
            left += _named(unit, cues.LEFT, found)
        elif cue := next((cue for cue in (cues.ANSWERS, cues.DONE) if cue.stands_in(unit)), None):
            gone = _named(unit, cue, found)
            found = [each for each in found if each not in gone]
    if _puts_off(turn):
        left += [each for each in found if each.message == turn.place]
    elif said and not narrates(said[-1]):
        found = [each for each in found if each.section != "in_progress" or each in left]
    return [replace(each, section="pending") if each in left else each for each in found]


def _named(unit: str, cue: cues.Wording, found: Sequence[Statement]) -> list[Statement]:
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


def _asked_in(turns: Sequence[Turn]) -> Iterator[str]:
    """Yield what users said in the turns, sentence by sentence."""
    return (unit for turn in turns for words in turn.asks for unit in units(words))


def is_concluded(turn: Turn) -> bool:
    """Say whether the assistant ended the turn with an answer rather than a question or a plan."""
    last = units(turn.reply.text)[-1:] if turn.reply else []
    is_answer = bool(last) and not narrates(last[0]) and not cues.is_question(last[0])
    return is_answer and not _puts_off(turn)


def asked_back(turn: Turn) -> str:
    """Return the question with which the assistant ended the turn, if it is one."""
    last = units(turn.reply.text)[-1:] if turn.reply else []
    return last[0] if last and cues.is_question(last[0]) else ""


def _plans(turn: Turn) -> bool:
    return any(deed.action.family is Family.PLAN for deed in turn.deeds)


def _worked(turn: Turn, after: int, work: tuple[str, ...]) -> bool:
    """Say whether something was changed or tested with success after a message of the turn.

    Where a check was of some targets, one of others left it where it was.
    """
    later = [deed for deed in turn.deeds if deed.place > after and not deed.failed]
    if work[1:] and any(work[0] == each[0] for deed in later for each in work_of(deed)):
        return False
    lines = (line for line in map(told, later) if line is not None)
    return any(line.kind is not StatementKind.LOOK and FAILED not in line.line for line in lines)


def _puts_off(turn: Turn) -> bool:
    """Say whether the reply is short and only promises."""
    text = turn.reply.text if turn.reply else ""
    is_short = 0 < len(text) <= _SHORT_REPLY
    return is_short and cues.DEFERS.stands_in(text) and not cues.DONE.stands_in(text)
