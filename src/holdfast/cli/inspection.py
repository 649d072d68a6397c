"""Everything that `inspect` tells about a file, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from holdfast.cli.census import Census, take_census
from holdfast.cli.compressing import window_of
from holdfast.compaction import (
    Enough,
    Impossible,
    Nothing,
    PassContext,
    Plan,
    decide,
    due,
    hygiene_due,
)
from holdfast.formats.document import Document, Envelope
from holdfast.redaction import Redactor
from holdfast.tokens import Scale
from holdfast.transcript import one_line
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from holdfast.compaction import Decision, Policy
    from holdfast.config import Settings
    from holdfast.transcript import Transcript

__all__ = [
    "Inspection",
    "as_json",
    "heaviest",
    "inspect_document",
    "stored_document",
    "would",
]

_SKETCH = 160


@dataclass(frozen=True, slots=True)
class Inspection:
    """A file, weighed and judged."""

    name: str
    document: Document
    transcript: Transcript
    """What the model sees of it."""
    census: Census
    policy: Policy
    decision: Decision
    counter: str
    """How tokens were counted."""

    @property
    def folded(self) -> frozenset[int]:
        """Return the indices of the messages that a compaction would fold."""
        if not isinstance(self.decision, Plan):
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
        return due(self.census.load, self.policy)

    @property
    def hygiene_due(self) -> bool:
        """Say whether the session would be compacted before an agent sees it."""
        return hygiene_due(self.census.load, len(self.transcript), self.policy)


def inspect_document(
    name: str, document: Document, settings: Settings, *, fit: int | None = None
) -> Inspection:
    """Weigh a file that was read, and decide what a compaction would do; nothing is changed."""
    transcript = window_of(document)
    counter = counter_of(settings)
    scale = Scale(counter)
    policy = policy_of(settings, fit=fit)
    redactor = Redactor(settings.redaction.extra_patterns)
    return Inspection(
        name=name,
        document=document,
        transcript=transcript,
        census=take_census(transcript, scale),
        policy=policy,
        decision=decide(transcript, policy, PassContext(scale, redactor.redact)),
        counter=counter.name,
    )


def stored_document(window: Transcript) -> Document:
    """Return the window of a stored session as what a file would hold."""
    # With an envelope, all of it counts as what the model sees.
    return Document("stored session", "openai", window, Envelope(rest=None))


def heaviest(found: Inspection, count: int) -> list[int]:
    """Return the indices of the heaviest messages, heaviest first."""
    weights = found.census.weights
    return sorted(range(len(weights)), key=lambda index: (-weights[index], index))[:count]


def would(found: Inspection) -> tuple[str, str]:
    """Return what a compaction would do, as a word and as a sentence."""
    match found.decision:
        case Plan(cut=cut):
            count = len(found.decision.folded)
            return "fold", (
                f"fold {count:,} of {len(found.transcript):,} messages into a record; "
                f"head {cut.head:,}, tail {len(found.decision.bare.transcript) - cut.tail:,}"
            )
        case Enough():
            return "prune", "shorten stale tool output, which is enough without a record"
        case Nothing(reason):
            return "nothing", f"do nothing: {reason}"
        case Impossible(reason):
            return "impossible", f"give up: {reason}"
        case _:
            assert_never(found.decision)


def as_json(found: Inspection, *, top: int, messages: bool) -> dict[str, object]:
    """Return the inspection as plain JSON values."""
    word, sentence = would(found)
    census, policy = found.census, found.policy
    value: dict[str, object] = {
        "file": found.name,
        "format": found.document.format,
        "messages": len(found.transcript),
        "messages_before_window": len(found.document.transcript) - len(found.transcript),
        "tokens": census.tokens,
        "bytes": census.load.bytes,
        "images": census.load.images,
        "counter": found.counter,
        "context_length": policy.context_length,
        "threshold_tokens": policy.threshold_tokens,
        "hygiene_tokens": policy.hygiene_tokens,
        "due": list(found.due),
        "hygiene_due": found.hygiene_due,
        "kinds": {str(kind): tokens for kind, tokens in census.kinds.items()},
        "roles": dict(census.roles),
        "heaviest": [_entry(found, index) for index in heaviest(found, top)],
        "would": {"decision": word, "sentence": sentence, "folded": sorted(found.folded)},
        "problems": [
            {"line": each.line, "reason": each.reason} for each in found.document.problems
        ],
    }
    if messages:
        value["shape"] = [_entry(found, index) for index in range(len(found.transcript))]
    return value


def _entry(found: Inspection, index: int) -> dict[str, object]:
    message = found.transcript[index]
    return {
        "index": index,
        "role": str(message.role),
        "tokens": found.census.weights[index],
        "sketch": one_line(message, _SKETCH),
    }
