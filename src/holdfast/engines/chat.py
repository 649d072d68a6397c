"""The engine for callers that hold a list of messages, in whichever dialect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.compaction import Request
from holdfast.engines.engine import Engine
from holdfast.engines.meter import Meter
from holdfast.engines.result import Compaction
from holdfast.errors import InvalidTranscript
from holdfast.tokens import Scale
from holdfast.wire import DIALECTS, with_originals
from holdfast.wire.message_list import AUTO, read_messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.compaction import CompactionReport, Policy
    from holdfast.engines.state import Setup
    from holdfast.wire.message_list import Given, MessageList

__all__ = ["ChatEngine"]


class ChatEngine(Engine):
    """Compacts the list of messages that an agent resends with every call."""

    def __init__(self, policy: Policy, setup: Setup) -> None:
        """Hold the knobs and the parts; nothing is opened or read."""
        super().__init__(policy, setup)
        self._meter = Meter(Scale(setup.counter))

    def compress(
        self,
        messages: Iterable[Given],
        *,
        current_tokens: int | None = None,
        focus: str | None = None,
        force: bool = False,
        format: str = AUTO,  # noqa: A002
    ) -> Compaction:
        """Compact a list of messages; the list itself is never changed.

        Args:
            messages: In any dialect; what comes back is in the same one.
            current_tokens: The real size, if the provider has reported it.
            focus: The topic that deserves most of the record.
            force: Compact even what fits the budget of the tail.
            format: The dialect of the messages, by default the one that they tell.

        Raises:
            DecodeError: when a message cannot be read, or messages of several dialects are mixed;
                it names the message.
        """
        given = read_messages(messages, format)
        request = Request(current_tokens, focus or "", force)
        return self._checked(given, self.compact(given.transcript, request))

    async def acompress(
        self,
        messages: Iterable[Given],
        *,
        current_tokens: int | None = None,
        focus: str | None = None,
        force: bool = False,
        format: str = AUTO,  # noqa: A002
    ) -> Compaction:
        """Compact a list of messages without blocking the event loop; otherwise as `compress`."""
        given = read_messages(messages, format)
        request = Request(current_tokens, focus or "", force)
        return self._checked(given, await self.acompact(given.transcript, request))

    def should_compress(
        self,
        messages: Sequence[Given] = (),
        *,
        prompt_tokens: int | None = None,
        format: str = AUTO,  # noqa: A002
    ) -> bool:
        """Say whether compaction is due, by reported tokens or else by estimate.

        The cost follows what was appended since the last call, not the length of the list.
        """
        if prompt_tokens is not None and not messages:
            blocked = self.gauges.progress.blocked
            return not blocked and prompt_tokens >= self.policy.threshold_tokens
        return self.is_due(self._meter.measure(messages, format), prompt_tokens=prompt_tokens)

    def needs_hygiene(
        self,
        messages: Sequence[Given],
        *,
        prompt_tokens: int | None = None,
        format: str = AUTO,  # noqa: A002
    ) -> bool:
        """Say whether a session that grew between turns is compacted before an agent sees it.

        The reported size of the last turn decides; without one, the estimate.
        """
        load = self._meter.measure(messages, format)
        tokens = load.tokens if prompt_tokens is None else prompt_tokens
        return self.is_hygiene_due(replace(load, tokens=tokens), len(messages))

    def recover(
        self,
        messages: Sequence[Given],
        *,
        error: object = "",
        attempt: int = 1,
        format: str = AUTO,  # noqa: A002
    ) -> Compaction:
        """Compact after a provider refused the request for its size, tighter with each attempt.

        An error that states the true window teaches it; the policy is adapted for good. An error
        that speaks of the request's body is about bytes: old media goes first.
        """
        given = read_messages(messages, format)
        aim = self.recovery(self._meter.measure(messages, format), str(error), attempt)
        return self._checked(given, self.compact(given.transcript, Request(force=True, policy=aim)))

    async def arecover(
        self,
        messages: Sequence[Given],
        *,
        error: object = "",
        attempt: int = 1,
        format: str = AUTO,  # noqa: A002
    ) -> Compaction:
        """Compact after a refusal without blocking the event loop; otherwise as `recover`."""
        given = read_messages(messages, format)
        aim = self.recovery(self._meter.measure(messages, format), str(error), attempt)
        report = await self.acompact(given.transcript, Request(force=True, policy=aim))
        return self._checked(given, report)

    def _checked(self, given: MessageList, report: CompactionReport) -> Compaction:
        """Encode the outcome, and refuse to hand out what a provider would refuse."""
        if report.outcome in ("unchanged", "abandoned"):
            return Compaction(list(given.messages), report)
        # The next list may begin and end with the same messages, and is another one.
        self._meter.forget()
        dialect = DIALECTS[given.dialect]
        body = dialect.encode(report.result.transcript)
        violations = dialect.validate(body)
        if violations and not dialect.validate(given.body):
            raise InvalidTranscript(
                f"the compacted messages break a rule: {violations[0].message}", violations
            )
        return Compaction(with_originals(given.written(body), given.messages), report)
