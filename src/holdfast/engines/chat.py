"""The engine for callers that hold a list of OpenAI chat messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.compaction import Request
from holdfast.engines.engine import Engine
from holdfast.engines.meter import Meter
from holdfast.engines.result import Compaction
from holdfast.errors import InvalidTranscript
from holdfast.tokens import Scale
from holdfast.wire import DIALECTS, Body, with_originals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.compaction import CompactionReport, Policy
    from holdfast.engines.state import Setup
    from holdfast.transcript import Transcript

__all__ = ["ChatEngine"]


class ChatEngine(Engine):
    """Compacts the list of messages that an agent resends with every call."""

    def __init__(self, policy: Policy, setup: Setup) -> None:
        """Hold the knobs and the parts; nothing is opened or read."""
        super().__init__(policy, setup)
        self._meter = Meter(DIALECTS["openai"], Scale(setup.counter))

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
