"""Takes rules of project files out of what a pass would fold, so that they stay word for word.

Rules that a client puts into the conversation are told once: behind the newest user message that
holds them, or in a block that stands beside the summary. The newest version of a file wins.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from holdfast.compaction.plan import CompactionPlan, decide, leanest
from holdfast.transcript import Role
from holdfast.transcript.project_rules import (
    ProjectRules,
    blocks_in,
    fitted_rules,
    rules_block,
    rules_in,
)

if TYPE_CHECKING:
    from holdfast.compaction.plan import Decision
    from holdfast.compaction.policy import PassContext, Policy
    from holdfast.transcript import Message, Transcript

_OF_WINDOW, _OF_FIT = 4, 8
"""Rules may have one part in this many of what the window may weigh, and less of a fit, which is
often so small that they would leave no room to tell what was done."""
_SPARE = 600
"""Tokens that a fit needs beside them for a short record and a tail."""


def decided(transcript: Transcript, policy: Policy, context: PassContext) -> Decision:
    """Return what a compaction would do, with the rules of project files beside its summary."""
    decision = decide(transcript, policy, context)
    if not isinstance(decision, CompactionPlan):
        return decision
    lifted = _lifted(decision, policy, context)
    if lifted is None:
        return decision
    places, messages = lifted
    again = decide(messages, policy, context)
    if not isinstance(again, CompactionPlan):
        return decision
    bare = replace(again.bare, places=[places[at] for at in again.bare.places])
    return replace(again, source=transcript, weight=decision.weight, bare=bare)


def _lifted(
    plan: CompactionPlan, policy: Policy, context: PassContext
) -> tuple[list[int], Transcript] | None:
    """Return the transcript with its rules in a block of their own, if they are not told so yet.

    With each message comes its index before.
    """
    source, it = plan.source, plan.measured
    newest = None if it.newest is None else plan.bare.places[it.newest]
    shown = {*(plan.bare.places[at] for at in range(plan.cut.head)), newest}
    versions: dict[str, tuple[int, ProjectRules]] = {}
    for at, message in enumerate(source):
        # Hardly one message in twenty is a user's: the role is asked before anything is called.
        if message.role is Role.USER:
            versions |= {rules.source: (at, rules) for rules in rules_in(message)}
    # What the client's own words tell beside the summary needs no telling.
    told = [rules for at, rules in versions.values() if at not in shown or blocks_in(source[at])]
    limit = policy.fit or policy.room_tokens
    most = limit // _OF_WINDOW
    if policy.fit is not None:
        least = context.scale.total(leanest(it, context).values())
        most = min(limit // _OF_FIT, limit - least - _SPARE)
    kept = fitted_rules(told, most, context.scale.text)
    block = rules_block(kept).parts if kept else ()
    if tuple(chain.from_iterable(map(blocks_in, source))) == block:
        return None
    pairs: list[tuple[int, Message]] = []
    for at, message in enumerate(source):
        ours = blocks_in(message)
        rest = tuple(part for part in message.parts if part not in ours) if ours else message.parts
        if rest or not ours:
            pairs.append((at, replace(message, parts=rest) if ours else message))
    if kept:
        head = plan.bare.places[plan.cut.head] if plan.cut.head < len(plan.bare.places) else 0
        first = next((at for at, (place, _) in enumerate(pairs) if place >= head), len(pairs))
        pairs.insert(first, (head, rules_block(kept)))
    return [place for place, _ in pairs], tuple(message for _, message in pairs)


def rules_left_out(transcript: Transcript) -> tuple[str, ...]:
    """Return what a window says no longer of project files, a sentence for each file."""
    blocks = (message for message in transcript if blocks_in(message))
    found = (rules for message in blocks for rules in rules_in(message) if rules.left_out)
    return tuple(
        f"of {rules.source} there is no room for: {'; '.join(rules.left_out)}" for rules in found
    )
