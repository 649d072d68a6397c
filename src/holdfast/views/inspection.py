"""A transcript or a session weighed and judged: where its context went and what became of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
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
from holdfast.conversation.compactor import flaws_of
from holdfast.formats.reader import Document
from holdfast.session import path_to, places_of
from holdfast.tokens import Scale
from holdfast.transcript import one_line
from holdfast.transfer import stated_parent
from holdfast.views.context_map import WindowLimits, context_map, ratio_of, weighed
from holdfast.views.messages import message_fields
from holdfast.views.sessions import compaction_fields, session_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.compaction import Decision, Policy
    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Entry, Session, Window
    from holdfast.tokens import Counter
    from holdfast.transcript import Transcript
    from holdfast.transfer import StatedParent
    from holdfast.views.context_map import ContextMap

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
        """Return the inspection as plain JSON values."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetails:
    """A session in detail: where it came from, what fills its window, what became of it."""

    session: Session
    path: tuple[Session, ...]
    """The sessions that it came from, the oldest first, and itself."""
    window: tuple[Entry, ...]
    usage: ContextMap
    limits: WindowLimits
    compactions: tuple[CompactionRecord, ...]
    is_undone: bool
    elder: StatedParent | None
    """What it came from, where its file alone says so."""
    warnings: tuple[str, ...] = ()
    """What is to be said of the compaction whose result the window shows."""

    def as_json(self, entries: Sequence[Entry], left_out: int) -> dict[str, object]:
        """Return the details with some messages as plain JSON values."""
        return {
            **session_fields(self.session),
            "places": places_of(self.path),
            "path": [each.id for each in self.path],
            "belongs_to": None if self.elder is None else asdict(self.elder),
            "window": self.window_json(),
            "warnings": list(self.warnings),
            "compactions": [compaction_fields(each) for each in self.compactions],
            "messages": [message_fields(each) for each in entries],
            "messages_left_out": left_out,
        }

    def window_json(self) -> dict[str, object]:
        """Return what fills the window as plain JSON values."""
        return {
            "messages": len(self.window),
            "tokens": self.usage.tokens,
            "context_length": self.limits.window,
            "threshold_tokens": self.limits.threshold,
            "kinds": self.usage.kinds_json(),
            "undone": self.is_undone,
        }


@dataclass(frozen=True, slots=True)
class WindowStep:
    """A step back or forth, with the window before and after it."""

    session: str
    is_done: bool
    """Whether there was anything to do."""
    before: Window
    after: Window
    ratio: float
    """What a token of our estimate weighs in this session."""

    def tokens(self, window: Window) -> int:
        """Return what one of the windows weighs."""
        return sum(each.tokens for each in weighed(window.entries, self.ratio))

    def as_json(self) -> dict[str, object]:
        """Return the step as plain JSON values."""
        return {
            "session": self.session,
            "done": self.is_done,
            "messages_before": len(self.before.entries),
            "messages_after": len(self.after.entries),
            "tokens_before": self.tokens(self.before),
            "tokens_after": self.tokens(self.after),
        }


def session_details(
    store: Store, session: Session, policy: Policy, counter: Counter
) -> SessionDetails:
    """Return a session in detail, its window weighed against a policy."""
    window, ratio = store.window(session.id), ratio_of(session)
    return SessionDetails(
        session=session,
        path=path_to(store.lineage(session.id), session.id),
        window=weighed(window.entries, ratio),
        usage=context_map(window.transcript, Scale(counter, ratio=ratio)),
        limits=WindowLimits(policy.context_length, policy.threshold_tokens),
        compactions=store.compactions(session.id),
        is_undone=window.head.view != store.tip(session.id),
        elder=stated_parent(store, session),
        warnings=flaws_of(store, session.id, window.head.view).warnings,
    )
