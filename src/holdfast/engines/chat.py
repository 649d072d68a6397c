"""The engine for callers that hold a list of OpenAI chat messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.compaction import Request
from holdfast.engines.engine import Engine
from holdfast.errors import InvalidTranscript
from holdfast.tokens import Load, Scale, load_of
from holdfast.wire import DIALECTS, Body, with_originals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.compaction import CompactionReport, Outcome, Policy
    from holdfast.engines.engine import EngineDeps
    from holdfast.transcript import Transcript
    from holdfast.wire import Dialect

__all__ = ["ChatEngine", "Compaction", "IncrementalEstimator"]


@dataclass(frozen=True, slots=True)
class Compaction:
    """New messages, and what happened to the old ones."""

    messages: list[dict[str, object]]
    report: CompactionReport

    @property
    def outcome(self) -> Outcome:
        """Return the outcome as a value to match on."""
        return self.report.result


class IncrementalEstimator:
    """Measures the list that an agent resends with every call.

    Agents append to one list. As long as the last message seen is still where it was, only what
    follows it is decoded and weighed; otherwise everything is measured again.
    """

    def __init__(self, dialect: Dialect, scale: Scale) -> None:
        """Measure messages of this dialect with this scale."""
        self._dialect = dialect
        self._scale = scale
        self._load = Load()
        self._seen = 0
        self._last: object = None

    def measure(self, messages: Sequence[dict[str, object]]) -> Load:
        """Return the load of the messages."""
        known = self._seen
        if not (0 < known <= len(messages) and messages[known - 1] is self._last):
            known, self._load = 0, Load()
        fresh = self._dialect.decode(Body(list(messages[known:])))
        self._load += load_of(fresh, self._scale)
        self._scale.keep_only(())
        self._seen = len(messages)
        self._last = messages[-1] if messages else None
        return self._load

    def forget(self) -> None:
        """Measure everything at the next call: the list was rewritten."""
        self._seen = 0


class ChatEngine(Engine):
    """Compacts the list of messages that an agent resends with every call."""

    def __init__(self, policy: Policy, setup: EngineDeps) -> None:
        """Hold the knobs and the parts; nothing is opened or read."""
        super().__init__(policy, setup)
        self._meter = IncrementalEstimator(DIALECTS["openai"], Scale(setup.counter))

    def compress(
        self,
        messages: Iterable[dict[str, object]],
        *,
        current_tokens: int | None = None,
        focus: str | None = None,
        force: bool = False,
    ) -> Compaction:
        """Compact a list of OpenAI chat messages; the list itself is never changed."""
        messages = list(messages)
        request = Request(current_tokens, focus or "", force)
        report = self.compact(self._decoded(messages), request)
        return self._checked(messages, report)

    async def acompress(
        self,
        messages: Iterable[dict[str, object]],
        *,
        current_tokens: int | None = None,
        focus: str | None = None,
        force: bool = False,
    ) -> Compaction:
        """Compact a list of OpenAI chat messages without blocking the event loop."""
        messages = list(messages)
        request = Request(current_tokens, focus or "", force)
        report = await self.acompact(self._decoded(messages), request)
        return self._checked(messages, report)

    def should_compress(
        self, messages: Sequence[dict[str, object]] = (), *, prompt_tokens: int | None = None
    ) -> bool:
        """Say whether compaction is due, by reported tokens or else by estimate.

        The cost follows what was appended since the last call, not the length of the list.
        """
        if prompt_tokens is not None and not messages:
            blocked = self.gauges.progress.blocked
            return not blocked and prompt_tokens >= self.policy.threshold_tokens
        return self.is_due(self._meter.measure(messages), prompt_tokens=prompt_tokens)

    def needs_hygiene(
        self, messages: Sequence[dict[str, object]], *, prompt_tokens: int | None = None
    ) -> bool:
        """Say whether a session that grew between turns is compacted before an agent sees it.

        The reported size of the last turn decides; without one, the estimate.
        """
        load = self._meter.measure(messages)
        tokens = load.tokens if prompt_tokens is None else prompt_tokens
        return self.is_hygiene_due(replace(load, tokens=tokens), len(messages))

    def recover(
        self, messages: Sequence[dict[str, object]], *, error: object = "", attempt: int = 1
    ) -> Compaction:
        """Compact after a provider refused the request for its size, tighter with each attempt.

        An error that states the true window teaches it; the policy is adapted for good. An error
        that speaks of the request's body is about bytes: old media goes first.
        """
        aim = self._recovery(messages, str(error), attempt)
        return self._checked(
            messages, self.compact(self._decoded(messages), Request(force=True, policy=aim))
        )

    async def arecover(
        self, messages: Sequence[dict[str, object]], *, error: object = "", attempt: int = 1
    ) -> Compaction:
        """Compact after a refusal without blocking the event loop; otherwise as `recover`."""
        aim = self._recovery(messages, str(error), attempt)
        report = await self.acompact(self._decoded(messages), Request(force=True, policy=aim))
        return self._checked(messages, report)

    def _decoded(self, messages: Sequence[dict[str, object]]) -> Transcript:
        return self.recognized(DIALECTS["openai"].decode(Body(list(messages))))

    def _recovery(self, messages: Sequence[dict[str, object]], error: str, attempt: int) -> Policy:
        return self.recovery(self._meter.measure(messages), error, attempt)

    def _checked(
        self, messages: Sequence[dict[str, object]], report: CompactionReport
    ) -> Compaction:
        """Encode the outcome, and refuse to hand out what a provider would refuse."""
        if report.outcome in ("unchanged", "abandoned"):
            return Compaction(list(messages), report)
        # The next list may begin and end with the same messages, and is another one.
        self._meter.forget()
        dialect = DIALECTS["openai"]
        body = dialect.encode(report.result.transcript)
        violations = dialect.validate(body)
        if violations and not dialect.validate(Body(list(messages))):
            raise InvalidTranscript(
                f"the compacted messages break a rule: {violations[0].message}", violations
            )
        return Compaction(with_originals(body.messages, messages), report)
