"""Build the window: head, a record where the middle was, tail, with proof of what the record kept.

Pure, and sized by arithmetic. Of what a summary says, what is true now comes first, then the
record, which takes nearly all of the room; users' words that it does not tell whole; and names in
few words, within a tenth of the whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.compaction.live import render_live
from holdfast.compaction.plan import SYSTEM_NOTE, grow, kept_reply, leanest, note_weight
from holdfast.compaction.policy import LEAST
from holdfast.compaction.prune import truncate, without_bulk
from holdfast.compaction.repair import merged, repair
from holdfast.facts import ledger
from holdfast.summary import Checkpoint, render, render_checkpoint
from holdfast.summary.actions import PASSED, only_shows
from holdfast.summary.statements import COLONS, MORE, NOW, Origin, StatementKind, is_code
from holdfast.summary.story import ASSISTANT, LOOKS, narrates
from holdfast.tokens import MESSAGE_TOKENS, SUMMARY_TOKENS
from holdfast.transcript import (
    Message,
    Recalled,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_user_word,
    newest_reply,
    newest_user,
    said_at,
)
from holdfast.wire.provenance import signed

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from holdfast.compaction.live import LiveState, PlanItem
    from holdfast.compaction.plan import CompactionPlan
    from holdfast.compaction.policy import PassContext
    from holdfast.compaction.report import SummaryReport
    from holdfast.summary import RecordDraft, Statement
    from holdfast.tokens import Scale
    from holdfast.transcript import Transcript

_WORTH_USING = 50
"""Tokens left over under a strict limit from which on the tail is made longer."""
_GROWTHS = 3
"""How often that is tried: what stands in the tail need not be told, so that more is left."""
_OF_RESULT = 0.06
"""What one result may take of a strict tail once something was said about it."""
_WORDED = (Text, Summary, Recalled, ToolCall, ToolResult)
_TRIES = 4
"""How often a summary is written again because words weigh more together than apart."""
_OF_LIVE = 0.25
_OF_ENDED, _OF_ITEM = 0.08, 8
"""What finished steps of a plan may take of the live state, and what the line of one weighs."""
_OF_LEDGER, _OF_LEDGER_WRITTEN, _AMPLE = 0.07, 0.03, 1_500
"""The share of the ledger, also beside what a model wrote, and tokens of a summary from which on
it has all of it."""
_EDITS = ("EDITED|", "WROTE|")
_WRITTEN_FROM = re.compile(r" from (\d{1,3}(?:,\d{3}){0,3}) messages")
_NAMES = re.compile(r"`|\w_\w|[a-z][A-Z]|\w\.\w|/\w[^/\s]*/|://|(?<!^)\d|--\w|@\w")
_WORDS = frozenset(StatementKind) - {StatementKind.TOLD, StatementKind.CHANGE, *NOW}
"""The kinds of what is said about work; people who talk tell much that has no name."""
_PASSING = (StatementKind.ASK, StatementKind.REMARK)
"""What is said of a turn before it is concluded."""
_BESIDE = 60
"""Tokens of the line that says how a summary was written, and of headings beside its record."""
_JOINTS = 12
"""Tokens for the headings of what stands beside the record."""


@dataclass(frozen=True, slots=True)
class SummarySource:
    """What a summary is made from, and where that came from."""

    draft: RecordDraft
    report: SummaryReport
    live: LiveState
    count: Callable[[str], int]
    """Weighs words, each once: a window may be built several times."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """The messages that a summary is placed between."""

    plan: CompactionPlan
    head: Transcript
    kept: Transcript
    tail: Transcript
    shown: frozenset[int]
    """The indices of all of them."""
    truncated: int = 0
    is_bare: bool = False
    """Whether only what must stay is there, in its shortest form."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A window with a summary in it."""

    frame: Frame
    transcript: Transcript
    weight: int
    text: str = ""
    """The words of the summary."""
    record: str = ""
    """The part of them that is the record."""


def fold(plan: CompactionPlan, source: SummarySource, context: PassContext) -> Fold:
    """Return the window in which a checkpoint stands for the folded messages.

    The summary gets what the tail leaves. Under a strict limit a tail that leaves no room for it
    goes, and what must stay stays: the system prompt, the newest user message and calls that
    still wait. Where everything is told and room is left, the tail is made longer.
    """
    goal = min(plan.shares.limit, plan.weight - 1)
    built = _build(_filled(plan, source, context, goal), source, context, goal)
    others = _other_frames(built.frame, plan, context) if plan.shares.strict else iter(())
    while built.weight > goal or not built.text:
        frame = next(others, None)
        if frame is None:
            break
        other = _build(frame, source, context, goal)
        if built.weight > goal or other.text:
            built = other
    spare = goal - built.weight
    if plan.shares.strict and built.text and not built.frame.is_bare and _is_worth(spare, goal):
        # Numbers and joints were estimated, and some statements say the same.
        longer = _frame(grow(built.frame.plan, spare, context), context)
        grown = _build(longer, source, context, goal)
        if built.weight < grown.weight <= goal and grown.text:
            built = grown
    frame, window = built.frame, built.transcript
    if built.weight > plan.shares.limit:
        cropped = truncate(window, plan.shares.limit, context)
        window = cropped.messages
        frame = replace(frame, truncated=frame.truncated + cropped.count)
    return replace(built, frame=frame, transcript=signed(window, context.sign))


def _filled(plan: CompactionPlan, source: SummarySource, context: PassContext, goal: int) -> Frame:
    """Return what stands around the summary, with a strict tail that takes what it does not need.

    What everything weighs that there is to tell is known before any of it is written. What then
    stands in the tail need not be told, so that more is left.
    """
    frame, count = _frame(plan, context), source.count
    beside = min(count(render_live(source.live)), plan.shares.live) + _BESIDE
    for _ in range(_GROWTHS if plan.shares.strict else 0):
        told = source.draft.most_tokens(count, frame.shown)
        spare = goal - _fixed(frame, context.scale) - beside - told
        longer = (
            _frame(grow(frame.plan, spare, context), context) if _is_worth(spare, goal) else frame
        )
        if longer is frame or _fixed(longer, context.scale) + beside > goal:
            break
        frame = longer
    return frame


def _is_worth(spare: int, goal: int) -> bool:
    """Say whether tokens that are left over are worth making the tail longer."""
    return spare > max(_WORTH_USING, goal // 20)


def _fixed(frame: Frame, scale: Scale) -> int:
    """Return what the window weighs without the words of its summary."""
    note = note_weight(frame.head, scale) if frame.head else 0
    without = repair(assemble(frame.head, "", frame.kept, frame.tail))
    return scale.total(without) + SUMMARY_TOKENS + MESSAGE_TOKENS + note


def _build(frame: Frame, source: SummarySource, context: PassContext, goal: int) -> Fold:
    """Build the window once; again only where its words weigh more together than apart."""
    scale, shares = context.scale, frame.plan.shares
    around = words_of((*frame.kept, *frame.tail))
    without = repair(assemble(frame.head, "", frame.kept, frame.tail))
    fixed = _fixed(frame, scale)
    wish, least = goal, 0
    if not shares.strict:
        wish = max(int((shares.record + shares.said + shares.live) * 1.1), LEAST)
        # A summary is worth more than an oversized exchange, whose results can be cut; but where
        # the window is under its limit, it has to be shorter than what it stands for.
        least = max(wish // 2, LEAST) if frame.plan.weight > shares.limit else LEAST // 2
    budget = min(wish, max(goal - fixed, least))
    for _ in range(_TRIES):
        text, record = _compose(frame, source, context, around=around, budget=budget)
        window = repair(assemble(frame.head, text, frame.kept, frame.tail))
        weight = scale.total(window)
        if weight <= goal or not text or budget <= least:
            return Fold(frame, window, weight, text, record)
        # By what the words weigh: less of a budget that they do not fill changes nothing.
        budget = max(min(budget, source.count(text)) - (weight - goal) - 8, least)
    return Fold(frame, without, scale.total(without))


def _frame(plan: CompactionPlan, context: PassContext) -> Frame:
    window, cut, shares, scale = plan.window.transcript, plan.cut, plan.shares, context.scale
    tail = window[cut.tail :]
    newest = newest_user(window)
    spared = 0 if newest is None or newest < cut.tail else scale.weigh(window[newest])
    # How many messages of the tail are there only so that it is not too short.
    after = next((seam for seam in plan.measured.seams if cut.tail < seam < len(window)), cut.tail)
    is_short = not shares.strict and len(window) - after < shares.fewest
    newer = tail[after - cut.tail if is_short else 0 :]
    older = tail[: len(tail) - len(newer)]
    lighter = truncate(older, shares.tail + spared - scale.total(newer), context)
    tail = (*lighter.messages, *newer)
    protected = 0 < shares.protected <= len(tail)
    most = max(shares.ceiling, shares.widest) if protected else shares.ceiling
    if scale.total(tail) > most + spared:
        # More than the budget is for what can stay whole.
        most = shares.tail
    if shares.strict:
        # Of each result about which something was said since, only so much.
        said = newest_reply(tail) or 0
        rooms = (int(shares.tail * _OF_RESULT * len(each.results)) for each in tail[:said])
        brief = (
            truncate((each,), room, context).messages[0] if each.results else each
            for each, room in zip(tail[:said], rooms, strict=True)
        )
        tail = (*brief, *tail[said:])
    cropped = truncate(tail, most + spared, context)
    shown = frozenset((*range(cut.head), *cut.kept, *range(cut.tail, len(window))))
    kept = tuple(window[at] for at in cut.kept)
    count = lighter.count + cropped.count
    return Frame(plan, window[: cut.head], kept, cropped.messages, shown, count)


def _other_frames(tried: Frame, plan: CompactionPlan, context: PassContext) -> Iterator[Frame]:
    """Yield what a strict window may have instead of a frame that leaves a summary no room."""
    if tried.plan is not plan:
        yield _frame(plan, context)
    yield from _bare_frames(plan, context)


def _bare_frames(plan: CompactionPlan, context: PassContext) -> Iterator[Frame]:
    """Yield what must stay, with the newest reply where there may be room for it, and without."""
    lean = leanest(plan.measured, context)
    # A strict window has no head but the system prompt.
    head, window = plan.cut.head, plan.window.transcript
    beside = context.scale.total(lean.values())
    reply = kept_reply(plan.measured, plan.shares, context, beside=beside)
    for each in (reply, None) if reply else (None,):
        kept: dict[int, Message] = {}
        if each:
            said = window[each.places.start : each.places.stop]
            kept |= zip(each.places, without_bulk(said, each.tokens, context), strict=True)
        kept |= lean
        shown = tuple(kept[at] for at in sorted(kept) if at >= head)
        yield Frame(plan, window[:head], shown, (), frozenset((*range(head), *kept)), is_bare=True)


def assemble(
    head: Sequence[Message], summary: str, kept: Sequence[Message], tail: Sequence[Message]
) -> Transcript:
    """Return the parts as one transcript in which roles alternate at the joints.

    What a user pinned stands before the summary, which tells of later turns, and in a message of
    its own: the next pass could not tell pinned words from those that they were merged with.
    Where there is no room for a summary there is none for the note in the system prompt either.
    """
    pinned: list[Message] = []
    beside: list[Message] = []
    newest = next((each for each in reversed((*kept, *tail)) if is_user_word(each)), None)
    for each in kept:
        is_apart = summary and each.pinned and is_user_word(each) and each is not newest
        (pinned if is_apart else beside).append(each)
    head = (*head[:-1], *_joined((*head[-1:], *pinned)))
    rest = (*_joined((*beside, *tail[:1])), *tail[1:])
    if not summary:
        return (*head, *rest)
    opening = noted(head)
    part = Summary(summary)
    before = opening[-1].role if opening else Role.SYSTEM
    after = rest[0] if rest else None
    if before is Role.USER and after and after.role is Role.ASSISTANT:
        # No role is left for a message between the two.
        if any(isinstance(part, Thinking) for part in after.parts):
            # Reasoning has to stay first in its message, so the summary precedes the user's words.
            return (*opening[:-1], _with_summary(opening[-1], part), *rest)
        return (*opening, _with_summary(after, part), *rest[1:])
    if before is not Role.USER and after and after.role is Role.USER:
        return (*opening, _with_summary(after, part), *rest[1:])
    role = Role.ASSISTANT if before is Role.USER else Role.USER
    return (*opening, Message(role, (part,), synthetic=Synthetic.SUMMARY), *rest)


def _joined(messages: Iterable[Message]) -> list[Message]:
    """Return the messages with users' that follow each other as one: what stood between is gone."""
    joined: list[Message] = []
    for message in messages:
        if joined and message.role is Role.USER and joined[-1].role is Role.USER:
            joined[-1] = merged(joined[-1], message)
        else:
            joined.append(message)
    return joined


def with_note(message: Message, note: str = SYSTEM_NOTE) -> Message:
    """Return the system message with the note at its end, once."""
    if any(isinstance(part, Text) and note in part.text for part in message.parts):
        return message
    last = message.parts[-1] if message.parts else None
    if isinstance(last, Text) and len(message.parts) == 1 and message.form in ("", "string"):
        noted = structs.replace(last, text=f"{last.text}\n\n{note}")
        return structs.replace(message, parts=(noted,))
    return structs.replace(message, parts=(*message.parts, Text(note)))


def _with_summary(message: Message, summary: Summary) -> Message:
    """Return the message with a summary in front."""
    return structs.replace(message, parts=(summary, *message.parts))


def noted(head: Sequence[Message], note: str = SYSTEM_NOTE) -> tuple[Message, ...]:
    """Return the head with the note in its last system message."""
    system = [index for index, message in enumerate(head) if message.role is Role.SYSTEM][-1:]
    return tuple([with_note(each, note) if at in system else each for at, each in enumerate(head)])


def words_of(messages: Iterable[Message]) -> str:
    """Return everything in the messages that a fact may stand in."""
    return "\n".join(
        [
            part.arguments if isinstance(part, ToolCall) else part.text
            for message in messages
            for part in message.parts
            if isinstance(part, _WORDED)
        ]
    )


def _compose(
    frame: Frame, source: SummarySource, context: PassContext, *, around: str, budget: int
) -> tuple[str, str]:
    """Return the summary within a budget, redacted, and the record in it; nothing without room.

    What the frame shows needs no telling; names in the words `around` the summary no listing.
    """
    plan, draft, count, shown = frame.plan, source.draft, source.count, frame.shown
    shares = plan.shares
    live = _live(source.live, context, min(shares.live, int(budget * _OF_LIVE)), shares.limit)
    before = _WRITTEN_FROM.search(plan.bare.previous.note) if plan.bare.previous else None
    folded = len(plan.cut.folded()) + (int(before[1].replace(",", "")) if before else 0)
    by = f"by {draft.writer}" if draft.writer else "without a model"
    note = f"Written {by} from {folded:,} messages; the older a turn, the less is told of it."
    if recall := context.request.recall:
        verb = "brings" if len(recall) == 1 else "bring"
        note += f" {' and '.join(recall)} {verb} back the originals."
    left = budget - sum(count(part) + _JOINTS for part in (live, note) if part)
    # In a small window a sentence says more than a name, and so does what a model wrote.
    of_ledger = (_OF_LEDGER_WRITTEN if draft.writer else _OF_LEDGER) * min(1.0, budget / _AMPLE)
    room = int(left * (1 - of_ledger))
    if not shares.strict:
        room = min(max(shares.record, LEAST), room)
    choice = draft.selection(room, count, shown)
    record, chosen = draft.fitted(choice, room)
    if not record:
        return "", ""
    written = render(record)
    proof_room = int((budget - left + count(written)) * of_ledger) - _JOINTS
    left -= count(written) + max(proof_room, 0)
    said = _said(plan, context, written, draft.outdated, min(shares.said, left - _JOINTS))
    present = "\n".join((written, *said, live))
    chosen_ids = set(map(id, chosen))
    concluded = {each.entry for each in draft.statements if each.label == ASSISTANT}
    untold = [
        each
        for each in draft.told(shown)
        if id(each) not in chosen_ids and _is_proof(each, concluded)
    ]
    proof = ledger(
        [each for each in untold if each.section != "evidence"],
        present=present,
        budget=proof_room,
        count=count,
        earlier=[each for each in untold if each.section == "evidence"],
        around=around,
    )
    spare = proof_room - count(proof)
    if shares.strict and spare > _JOINTS and not choice.is_all:
        # Where few names are left to tell, the record takes what they do not need.
        choice.extend(spare)
        record, _ = draft.fitted(choice, room + spare, most_tries=2)
    text = render_checkpoint(Checkpoint(record, proof, said, live, note=note))
    return context.redact(text), render(record)


def _is_proof(told: Statement, concluded: Container[int]) -> bool:
    """Say whether a statement may be evidence: code, narration and what only looked are none.

    Nor is what an edit put into a file, which the line of an earlier record holds: a later edit may
    have put another thing there. Alone, what was asked or noted in a turn that was concluded reads
    as if it still held, and a check that passed tells nothing of now. Words about work need a name
    that is no word of prose: "one-liner" is.
    """
    return not (
        (told.kind is StatementKind.LOOK and (told.section == "files" or only_shows(told.text)))
        or (told.kind in _PASSING and told.label and told.entry in concluded)
        or told.label.partition("|")[0] in LOOKS
        or told.label == MORE
        or (told.kind in _WORDS and "|" not in told.label and not _NAMES.search(told.text))
        or (told.origin is Origin.EARLIER and told.label.startswith(_EDITS))
        or PASSED in told.text
        or told.text.endswith(COLONS)
        or is_code(told.text)
        or narrates(told.text)
    )


def _said(
    plan: CompactionPlan, context: PassContext, written: str, outdated: Sequence[str], budget: int
) -> tuple[str, ...]:
    """Return the newest words of users that the record does not tell whole, word for word.

    Words that hold something outdated are not quoted: a reader would take it for current.
    """
    told = "".join(written.split())
    quotes: list[str] = []
    for index in reversed(plan.cut.folded()):
        if budget <= _JOINTS:
            break
        words = said_at(plan.bare.transcript, index)
        is_told = "".join(words.split()) in told or words in quotes
        if is_told or any(each in words for each in outdated):
            continue
        cost = context.scale.text(words) + 2
        if cost <= budget:
            quotes.append(words)
            budget -= cost
    return tuple(quotes)


def _live(state: LiveState, context: PassContext, budget: int, limit: int) -> str:
    """Return the live state as far as it fits.

    The plan gives way to the budget, finished steps first: the record tells what was done, so
    that they are counted where they do not fit into a small part of it. Goal and rules may take
    more, because a rule that is left out is a rule that is broken; where a quarter of the window
    does not hold them, the last ones go and a line says so.
    """
    ended = [item for item in state.plan if item.is_done]
    weights = [context.scale.text(item.text) + _OF_ITEM for item in ended]
    while ended and sum(weights) > budget * _OF_ENDED:
        weights.pop(0)
        state = _without_item(state, ended.pop(0))
    while state.plan and context.scale.text(render_live(state)) > budget:
        state = _without_item(state, next(iter(ended), state.plan[-1]))
        ended = ended[1:]
    most = max(budget, int(limit * _OF_LIVE))
    text = render_live(state)
    for left_out in range(1, len(state.rules) + 1):
        if context.scale.text(text) <= most:
            break
        note = f"({left_out} more rules do not fit into this window)"
        text = render_live(replace(state, rules=(*state.rules[:-left_out], note)))
    return text


def _without_item(state: LiveState, item: PlanItem) -> LiveState:
    plan = tuple(each for each in state.plan if each is not item)
    return replace(state, plan=plan, finished=state.finished + item.is_done)
