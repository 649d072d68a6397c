"""The story of the work: each turn as the ask, what was done about it, and how it ended.

A turn is an entry of several lines. Its statements are chosen one by one, so that it is told with
less detail the older it is: narration and looking around go first, then what changes contained,
then what was said on the way; the user's words and the words that concluded the turn stay longest.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, TypeAlias

from holdfast.summary.actions import FAILED, is_check, only_looked, told
from holdfast.summary.choices import titles
from holdfast.summary.claims import claim_in
from holdfast.summary.cues import (
    contradicts,
    is_acknowledgement,
    is_decision,
    is_question,
    is_said_of,
    is_value,
)
from holdfast.summary.provenance import UNVERIFIED
from holdfast.summary.record import SECTIONS
from holdfast.summary.state import work_of
from holdfast.summary.statements import (
    COLONS,
    MORE,
    Statement,
    StatementKind,
    is_code,
    is_dense,
    led,
    units,
)
from holdfast.summary.turns import Deed
from holdfast.transcript.effects import Family

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.summary.statements import Rarity
    from holdfast.summary.turns import Remark, Turn

USER, NOTED, ASSISTANT, PLAN, _CHOSEN = "User", "Noted", "Assistant", "Plan", "Refers to"
SPEAKERS = (USER, _CHOSEN, NOTED, ASSISTANT, PLAN, UNVERIFIED)
_GAP = " … "
_OF_USER, _LONG = 2.0, 800
"""How much more a user's words are worth, and characters after which those of a message lose half.
"""
_THIN = 16
"""Bytes of a message that tells nothing without what came of it: "yes", "continue"."""
_DECISIVE, _CONCLUDES = 0.25, 0.2
_FEWEST_WORDS, _LETTERS = 5, 10
_PLAIN, _FEWEST_PLAIN = re.compile(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*[.,;:!?)\"']*"), 3
"""A word of prose, and how many of them a sentence has."""
_BRIEF, _ANSWER = 40, 200
"""Bytes of an answer that says nothing without its question, and characters of one that is quoted.
"""
PLACES = 10_000
"""Decisions are entries of their own, ordered by turn and place."""
_TOOL = re.compile(r"^([A-Z]{3,12}) (.*) \[tool: ([^\]]+)\]$", re.DOTALL)
LOOKS = frozenset({"READ", "SEARCHED", "FETCHED"})
"""What was done and changed nothing; a command that ran may have said something."""
_RAN = re.compile(r'(?<="); ')
"""What stands between commands that are told on one line, each with what it answered."""
_LINE = re.compile(r"^(?:[^\S\n]*(?:```|~~~).*\n(?:.*\n)*?[^\S\n]*(?:```|~~~).*|.*)$", re.MULTILINE)
"""A line of an entry, or a whole block of code."""
_BEGINNING = 80
_Work: TypeAlias = tuple[str, ...]
_SETTLES = re.compile(r"(?:i|we)(?:'ll| will) (?:use|keep|go with|stay with)\b", re.IGNORECASE)
_NARRATION = re.compile(
    r"(?:(?:now|ok|okay|great|perfect|good|excellent|alright|next|first|then|so)[,.!:]? )*"
    r"(?:let me|let's|i'll|i will|i(?:'m| am) (?:now |also |just )?\w+ing|i need to|i want to"
    r"|i should|now i|time to|checking|running|reading|looking|searching|here's the"
    r"|now (?:update|add|run)|now the [^.!?]{1,60}[:…]$|lass mich|ich werde|jetzt \w+ ich"
    r"|schauen wir|ich (?:schaue|prüfe|sehe)|voy a|déjame|je vais|vou |давай|посмотр"
    r"|сейчас (?:я |мы )?\w+(?:[юу]|ем|им)\b|让我|我来|我先|现在(?:让|我|来|开始|去)|接下来"
    r"|まず|次に|では)",
    re.IGNORECASE,
)


def narrates(unit: str) -> bool:
    """Say whether the words only announce what the assistant does next."""
    return _NARRATION.match(unit[:_BEGINNING].replace("\u2019", "'")) is not None


def announces(entry: str) -> bool:
    """Say whether an entry is narration that only announces what follows."""
    return entry.endswith(COLONS) and narrates(entry)


def story_of(turns: Sequence[Turn], first: int, rarity: Rarity) -> Iterator[Statement]:
    """Yield what the turns tell, oldest first; the first of them is entry number `first`."""
    works = any(turn.acts for turn in turns)
    pairs = zip(turns, (*turns[1:], None), strict=False)
    for number, (turn, after) in enumerate(pairs, first):
        yield from _Telling(turn, number, rarity, works=works).statements(after)


def _outdated(turn: Turn) -> set[int]:
    """Return the places of steps that a later attempt at the same tells better.

    Of a check that ran several times the last run tells how it ended, of edits of a file that
    failed the last one, and nothing of what failed and then worked.
    """
    found, tested, failed, worked = set[int](), set[_Work](), set[_Work](), set[_Work]()
    for at, step in reversed(list(enumerate(turn.steps))):
        if not isinstance(step, Deed) or step.ended is None or step.rejected:
            continue
        work = work_of(step)
        last = work[-1]
        if is_check(step):
            found |= {at} if last in tested else set()
            tested.add(last)
        elif step.failed:
            is_edit = step.action.family is Family.WRITE
            found |= {at} if last in worked or (is_edit and last in failed) else set()
            failed.add(last)
        if not step.failed:
            worked.update(work)
    return found


class _Telling:
    """The statements of one turn."""

    def __init__(self, turn: Turn, number: int, rarity: Rarity, *, works: bool) -> None:
        self._turn = turn
        self._number = number
        self._rarity = rarity
        self._order = 0
        self._works = works

    def statements(self, after: Turn | None) -> Iterator[Statement]:
        yield from self._asks()
        turn, reply = self._turn, self._turn.reply
        if turn.chosen:
            named = titles(turn.chosen)
            yield self._one(StatementKind.DECISION, named, 1.0, _CHOSEN, turn.place)
        if turn.older:
            yield self._one(
                StatementKind.LOOK, f"{turn.older} earlier call{'s' * (turn.older > 1)}", 1.0, NOTED
            )
        outdated = _outdated(turn)
        for at, step in enumerate(turn.steps):
            if isinstance(step, Deed):
                if at not in outdated:
                    yield from self._deed(step)
            elif step is not reply:
                for unit in units(step.text):
                    density = self._rarity.density(unit)
                    if density > _DECISIVE and _decides(unit, outright=True):
                        yield self._one(StatementKind.DECISION, unit, density, "", step.place)
                    else:
                        density *= 0.25 if narrates(unit) else 1.0
                        yield self._one(StatementKind.REMARK, unit, density, NOTED, step.place)
        if not self._order and reply is None:
            # A turn of listings alone has at least a call, whichever of them stays in the window.
            ran = [deed.action for deed in turn.deeds if deed.action.family is Family.SHELL]
            for action in ran[-1:]:
                label = f"RAN|{action.tool}"
                yield self._one(StatementKind.LOOK, action.target.strip(), 1.0, label)
        if reply is not None:
            yield from self._reply(reply, after)
        elif turn.interrupted:
            yield self._one(StatementKind.REMARK, "interrupted by the user", 1.0, NOTED)

    def _one(
        self, kind: StatementKind, text: str, density: float, label: str, message: int = -1
    ) -> Statement:
        self._order += 1
        section, entry, order = "actions", self._number, self._order
        if kind is StatementKind.DECISION and not label:
            section, entry = "decisions", entry * PLACES + order
        is_head = kind is StatementKind.ASK and order == 1
        place = section, entry, order
        return Statement(kind, text, *place, density, label, message=message, is_head=is_head)

    def _asks(self) -> Iterator[Statement]:
        for words, message in zip(self._turn.asks, self._turn.places, strict=True):
            parts = units(words)
            if not self._works:
                yield from self._talk(parts, USER, message)
                continue
            before, opens, leads = 0, self._order == 0, _leading(parts)
            for place, unit in enumerate(parts):
                if place and place not in leads and self._turn.is_far and not is_said_of(unit):
                    continue
                density = 0.45 + 0.55 * self._rarity.density(unit)
                if opens and len(parts) == 1 and not self._turn.chosen and is_thin(unit):
                    density = 0.2
                elif is_acknowledgement(unit) and not (opens and place == 0):
                    density *= 0.2
                elif place in leads:
                    density = max(density, 1.1 if opens else 0.8)
                elif place == len(parts) - 1 and _is_prose(unit):
                    density = max(density, 0.8)
                elif place > 1:
                    # Of a long message its beginning and its end say what is wanted.
                    density *= 0.6 * _LONG / (_LONG + before)
                before += len(unit)
                yield self._one(StatementKind.ASK, unit, density, USER, message)

    def _talk(self, parts: Sequence[str], label: str, message: int) -> Iterator[Statement]:
        """Yield what was told where nothing was done: small talk and questions tell little."""
        for unit in parts:
            density = self._rarity.density(unit)
            if label == USER:
                # People tell of themselves in fewer words than an assistant explains the world.
                density *= _OF_USER
            if is_acknowledgement(unit):
                density *= 0.1
            elif is_question(unit):
                density *= 0.3
            yield self._one(StatementKind.TOLD, unit, density, label, message)

    def _deed(self, deed: Deed) -> Iterator[Statement]:
        line = told(deed)
        if line is None or not line.line.strip():
            return
        label = f"{line.verb}|{deed.action.tool}"
        density = 0.5 + 0.5 * self._rarity.density(line.line)
        reply = self._turn.reply
        if line.verb == "COMMITTED" and reply and line.line.partition(" ")[0] in reply.text:
            density *= 0.3
        if is_check(deed) and FAILED not in line.line:
            # The newest check is told of the state; what was right before, its turn's words tell.
            density *= 0.75
        yield self._one(line.kind, line.line, density, label, deed.place)
        if deed.action.family is Family.PLAN:
            for unit in units(deed.action.content.strip().partition("\n")[2]):
                yield self._one(StatementKind.REPLY, unit, self._concluding(unit), PLAN, deed.place)
        if line.detail:
            density = min(self._rarity.density(line.detail), density)
            yield self._one(StatementKind.DETAIL, line.detail, density, MORE, deed.place)

    def _reply(self, reply: Remark, after: Turn | None) -> Iterator[Statement]:
        parts = led(units(reply.text))[: 1 if self._turn.is_far else None]
        if not self._works:
            yield from self._talk(parts, ASSISTANT, reply.place)
            return
        telling = (at for at, each in enumerate(parts) if not is_code(each))
        first = next((at for at in telling if not parts[at].endswith(COLONS)), 0)
        said = after.asks[0] if after is not None and after.asks else ""
        is_free = after is not None and not after.chosen
        refused = is_free and contradicts(said)
        # Where the reply ends with a question, only that is refused.
        settled = not refused or (bool(parts) and is_question(parts[-1]))
        answered = is_free and 0 < len(said.encode("utf-8", "surrogatepass")) < _BRIEF
        for place, unit in enumerate(parts):
            kind, density, label = StatementKind.REPLY, self._concluding(unit), ASSISTANT
            if place == first:
                kind, density = StatementKind.RESULT, max(density, 0.8)
            elif density > _DECISIVE and settled and _decides(unit):
                kind, label = StatementKind.DECISION, ""
            is_asked = place >= len(parts) - 2 and is_question(parts[-1])
            if is_asked and refused and len(said) <= _ANSWER:
                if unit is parts[-1]:
                    told = f'The user said "{" ".join(said.split())}" to: {unit}'
                    yield self._one(StatementKind.DECISION, told, 1.0, "", reply.place)
            elif is_asked and label and answered:
                # What "yes" and "no" answer is mostly in the sentence before the question.
                kind, density = StatementKind.RESULT, 1.0
            yield self._one(kind, unit, density, label, reply.place)

    def _concluding(self, unit: str) -> float:
        """Return the density of a conclusion: what the whole talk is about is in common words."""
        density = self._rarity.density(unit)
        return density if is_code(unit) else _CONCLUDES + (1 - _CONCLUDES) * density


def is_thin(unit: str) -> bool:
    """Say whether words are too short to tell anything without what came of them."""
    return len(unit.encode("utf-8", "surrogatepass")) < _THIN


def _is_prose(unit: str) -> bool:
    """Say whether words are a sentence: no path, no line of a terminal, not a word or two."""
    words = unit.split()
    plain = sum(_PLAIN.fullmatch(word) is not None for word in words)
    return is_dense(unit) or (plain >= _FEWEST_PLAIN and 2 * plain >= len(words))


def _leading(parts: Sequence[str]) -> set[int]:
    """Return which units of a message say what is wanted: the first sentence and first question."""
    prose = [place for place, unit in enumerate(parts) if _is_prose(unit)]
    asked = [place for place in prose if is_question(parts[place])]
    return {*prose[:1], *asked[:1]} or {0}


def _decides(unit: str, *, outright: bool = False) -> bool:
    """Say whether a unit is a sentence that settles something; a row of a table is none."""
    is_sentence = unit.count(" ") > _FEWEST_WORDS or (is_dense(unit) and len(unit) > _LETTERS)
    if not is_sentence or " | " in unit or unit.endswith(COLONS):
        return False
    # What an assistant says of the user is told as its words.
    if not is_decision(unit, outright=outright) or claim_in(unit):
        return False
    return not narrates(unit) or _SETTLES.match(unit.replace("\u2019", "'")) is not None


def entry_text(statements: Sequence[Statement]) -> str:
    """Return the entry that chosen statements of one turn make, in their order.

    What was done with one tool stands on a line, each target once with all that changed in it.
    """
    lines: list[str] = []
    details = {each.order - 1: each.text for each in statements if each.label == MORE}
    told = (each for each in statements if each.label != MORE)
    for label, run in groupby(told, key=lambda each: each.label):
        members = list(run)
        if label in (*SPEAKERS, ""):
            words = members[0].text
            for before, each in pairwise(members):
                words += (" " if each.order == before.order + 1 else _GAP) + each.text
            quoted = f'"{words}"' if label == USER else words
            lines.append(f"{label}: {quoted}" if label else quoted)
        else:
            parts: dict[str, dict[str, None]] = {}
            for each in members:
                known = parts.setdefault(each.text, {})
                if each.order in details:
                    known[details[each.order]] = None
            deeds = "; ".join(": ".join(filter(None, (on, " | ".join(parts[on])))) for on in parts)
            verb, _, tool = label.partition("|")
            lines.append(f"{verb} {deeds} [tool: {tool}]")
    return "\n".join(lines)


def read_entry(entry: str, section: str, rarity: Rarity) -> Iterator[Statement]:
    """Yield the statements of an entry that a record has, whoever wrote it."""
    known = SECTIONS[section].kind if section in SECTIONS else None
    for line in _LINE.findall(entry):
        text = line.strip()
        if done := _TOOL.match(text):
            verb, words, tool = done.groups()
            for line in _RAN.split(words) if verb == "RAN" else [words]:
                looks = only_looked(line) if verb == "RAN" else verb in LOOKS
                kind = StatementKind.LOOK if looks else StatementKind.CHANGE
                yield Statement(kind, line, label=f"{verb}|{tool}", density=0.7)
            continue
        label = next((each for each in SPEAKERS if text.startswith(f"{each}: ")), "")
        words = text[len(label) + 2 :] if label else text
        if label == USER:
            words = words.strip('"')
        parts = [units(part) for part in words.split(_GAP)]
        if label == ASSISTANT:
            parts[0] = led(parts[0])
        # The order says whether something was left out before it.
        said = [
            (unit, number > at == 0)
            for number, part in enumerate(parts)
            for at, unit in enumerate(part)
        ]
        for place, (unit, follows_gap) in enumerate(said):
            kind = known or StatementKind.DETAIL
            if label == USER:
                kind = StatementKind.ASK
            elif label == UNVERIFIED and section == "critical":
                kind = StatementKind.TOLD
            elif label == ASSISTANT and place == 0:
                kind = StatementKind.RESULT
            elif label == _CHOSEN:
                kind = StatementKind.DECISION
            elif section == "critical" and is_value(unit):
                kind = StatementKind.VALUE
            elif known is None and is_decision(unit):
                kind = StatementKind.DECISION
            density = 0.1 if is_code(unit) else 0.4 + 0.6 * rarity.density(unit)
            yield Statement(kind, unit, order=follows_gap, label=label, density=density)
