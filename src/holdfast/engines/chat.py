"""The engine for callers that hold a list of messages, in whichever dialect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.compaction import Request
from holdfast.engines.engine import Engine
from holdfast.errors import DecodeError, InvalidTranscript
from holdfast.keywords import names_checked
from holdfast.tokens import Load, Scale, load_of
from holdfast.wire import DIALECTS, with_originals
from holdfast.wire.message_list import (
    AUTO,
    MessageList,
    check_format,
    plain_messages,
    read_messages,
)
from holdfast.wire.recognition import DialectSign, agreed, signs_in, verdict_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.compaction import CompactionReport, Outcome, Policy
    from holdfast.engines.engine import EngineDeps
    from holdfast.wire.message_list import Given


@names_checked
@dataclass(frozen=True, slots=True, repr=False)
class Compaction:
    """New messages, and what happened to the old ones."""

    messages: list[dict[str, object]]
    report: CompactionReport

    @property
    def outcome(self) -> Outcome:
        """Return the outcome as a value to match on."""
        return self.report.result

    def __repr__(self) -> str:
        """Return what happened, in short; `messages` has the new list."""
        return f"<Compaction {self.outcome!r}>"

    def __str__(self) -> str:
        """Return what a person is told of it."""
        return str(self.report)


class IncrementalEstimator:
    """Measures the list that an agent resends with every call.

    Agents append to one list. As long as the last message seen is still where it was, only what
    follows it is decoded and weighed; otherwise everything is measured again. So it is when the
    new messages show that the list is of another dialect than its beginning seemed to be.
    """

    def __init__(self, scale: Scale) -> None:
        """Measure messages with this scale."""
        self._scale = scale
        self._load = Load()
        self._dialect = ""
        self._signs: dict[DialectSign, int] = {}
        self._seen = 0
        self._last: object = None

    def measure(self, messages: Sequence[Given], dialect: str = AUTO) -> Load:
        """Return the load of the messages, whose dialect they tell unless it is named."""
        known = self._seen
        if not (0 < known <= len(messages) and messages[known - 1] is self._last):
            known = 0
        fresh = plain_messages(messages[known:], known)
        check_format(dialect)
        signs = {**signs_in(fresh, known), **(self._signs if known else {})}
        spoken = agreed(verdict_on(signs)) if dialect == AUTO else dialect
        try:
            said = MessageList(spoken, fresh).transcript
        except DecodeError:
            if not known:
                raise
        else:
            if not known or spoken == self._dialect:
                load = load_of(said, self._scale)
                self._load = self._load + load if known else load
                self._scale.keep_only(())
                self._dialect, self._signs = spoken, signs
                self._seen = len(messages)
                self._last = messages[-1] if messages else None
                return self._load
        # Measured whole, an error says which message of the list it is.
        self.forget()
        return self.measure(messages, dialect)

    def forget(self) -> None:
        """Measure everything at the next call: the list was rewritten."""
        self._seen = 0


@names_checked
class ChatEngine(Engine):
    """Compacts the list of messages that an agent resends with every call."""

    def __init__(self, policy: Policy, setup: EngineDeps) -> None:
        """Hold the knobs and the parts; nothing is opened or read."""
        super().__init__(policy, setup)
        self._meter = IncrementalEstimator(Scale(setup.counter))

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
        return self._checked(given, self.compact(self.recognized(given.transcript), request))

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
        return self._checked(given, await self.acompact(self.recognized(given.transcript), request))

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
            blocked = self.state.progress.blocked
            return not blocked and prompt_tokens >= self.policy.threshold_tokens
        return self.is_due(self._measured(messages, format), prompt_tokens=prompt_tokens)

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
        load = self._measured(messages, format)
        return self.is_hygiene_due(load, len(messages), prompt_tokens=prompt_tokens)

    def has_content_to_compress(self, messages: Iterable[Given], *, format: str = AUTO) -> bool:  # noqa: A002
        """Say whether a pass that somebody asks for would find anything between head and tail."""
        return self.has_content(self.recognized(read_messages(messages, format).transcript))

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
        aim = self.recovery(self._measured(messages, format), str(error), attempt)
        return self._checked(
            given, self.compact(self.recognized(given.transcript), Request(force=True, policy=aim))
        )

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
        aim = self.recovery(self._measured(messages, format), str(error), attempt)
        report = await self.acompact(
            self.recognized(given.transcript), Request(force=True, policy=aim)
        )
        return self._checked(given, report)

    def _measured(self, messages: Sequence[Given], dialect: str) -> Load:
        """Return the load of a request with these messages."""
        return self._meter.measure(messages, dialect) + Load(self._beside)

    def _checked(self, given: MessageList, report: CompactionReport) -> Compaction:
        """Encode the outcome, and refuse to hand out what a provider would refuse."""
        if self.trouble:
            report = replace(report, notes=(*report.notes, self.trouble))
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
