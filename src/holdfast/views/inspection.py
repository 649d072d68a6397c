"""A transcript weighed and judged: where its context went, and what a compaction would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from holdfast.compaction import (
    CompactionPlan,
    Enough,
    Impossible,
    Nothing,
    PassContext,
    decide,
    due,
    hygiene_due,
)
from holdfast.formats.document import Document
from holdfast.tokens import Scale
from holdfast.transcript import one_line
from holdfast.views.context_map import context_map

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.compaction import Decision, Policy
    from holdfast.tokens import Counter
    from holdfast.transcript import Transcript
    from holdfast.views.context_map import ContextMap

__all__ = ["Inspection", "inspect_document", "stored_document"]

_SKETCH = 160


@dataclass(frozen=True, slots=True)
class Inspection:
    """A file, weighed and judged."""

    name: str
    document: Document
    transcript: Transcript
    """What the model sees of it."""
    usage: ContextMap
    policy: Policy
    decision: Decision
    counter: str
    """How tokens were counted."""

    @property
    def folded(self) -> frozenset[int]:
        """Return the indices of the messages that a compaction would fold."""
        if not isinstance(self.decision, CompactionPlan):
            return frozenset()
        gone = {id(message) for message in self.decision.folded}
        return frozenset(
            index
            for index, message in enumerate(self.transcript)
            if id(message) in gone or (message.summary and len(message.parts) == 1)
        )

    @property
    def due(self) -> tuple[str, ...]:
        """Return which budgets are reached."""
        return due(self.usage.load, self.policy)

    @property
    def hygiene_due(self) -> bool:
        """Say whether the session would be compacted before an agent sees it."""
        return hygiene_due(self.usage.load, len(self.transcript), self.policy)

    def heaviest(self, count: int) -> list[int]:
        """Return the indices of the heaviest messages, heaviest first."""
        weights = self.usage.weights
        return sorted(range(len(weights)), key=lambda index: (-weights[index], index))[:count]

    def would(self) -> tuple[str, str]:
        """Return what a compaction would do, as a word and as a sentence."""
        match self.decision:
            case CompactionPlan(cut=cut):
                count = len(self.decision.folded)
                return "fold", (
                    f"fold {count:,} of {len(self.transcript):,} messages into a record; "
                    f"head {cut.head:,}, tail {len(self.decision.bare.transcript) - cut.tail:,}"
                )
            case Enough():
                return "prune", "shorten stale tool output, which is enough without a record"
            case Nothing(reason):
                return "nothing", f"do nothing: {reason}"
            case Impossible(reason):
                return "impossible", f"give up: {reason}"
            case _:
                assert_never(self.decision)

    def as_json(self, *, top: int, messages: bool) -> dict[str, object]:
        """Return the inspection as plain JSON values.

        Args:
            top: How many of the heaviest messages are named.
            messages: Whether every message is listed.
        """
        word, sentence = self.would()
        usage, policy = self.usage, self.policy
        value: dict[str, object] = {
            "file": self.name,
            "format": self.document.format,
            "messages": len(self.transcript),
            "messages_before_window": len(self.document.transcript) - len(self.transcript),
            "tokens": usage.tokens,
            "bytes": usage.load.bytes,
            "images": usage.load.images,
            "counter": self.counter,
            "context_length": policy.context_length,
            "threshold_tokens": policy.threshold_tokens,
            "hygiene_tokens": policy.hygiene_tokens,
            "due": list(self.due),
            "hygiene_due": self.hygiene_due,
            "kinds": usage.kinds_json(),
            "roles": dict(usage.roles),
            "heaviest": [self._message(index) for index in self.heaviest(top)],
            "would": {"decision": word, "sentence": sentence, "folded": sorted(self.folded)},
            "problems": [
                {"line": each.line, "reason": each.reason} for each in self.document.problems
            ],
        }
        if messages:
            value["shape"] = [self._message(index) for index in range(len(self.transcript))]
        return value

    def _message(self, index: int) -> dict[str, object]:
        message = self.transcript[index]
        return {
            "index": index,
            "role": str(message.role),
            "tokens": self.usage.weights[index],
            "sketch": one_line(message, _SKETCH),
        }


def inspect_document(
    name: str, document: Document, policy: Policy, counter: Counter, redact: Callable[[str], str]
) -> Inspection:
    """Weigh a file that was read, and decide what a compaction would do; nothing is changed."""
    # A session file also keeps what the model does not see any more.
    transcript = document.live
    scale = Scale(counter)
    return Inspection(
        name=name,
        document=document,
        transcript=transcript,
        usage=context_map(transcript, scale),
        policy=policy,
        decision=decide(transcript, policy, PassContext(scale, redact)),
        counter=counter.name,
    )


def stored_document(window: Transcript) -> Document:
    """Return the window of a stored session as what a file would hold."""
    return Document("stored session", "openai", window)
