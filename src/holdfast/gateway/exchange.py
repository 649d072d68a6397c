"""The way of one request: recorded, made to fit, forwarded, its answer relayed and recorded.

A failure of our own never stands between a client and its model: what cannot be recorded is
forwarded as it came in, with a warning, unless the settings say otherwise.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from holdfast.conversation.waiting import in_store
from holdfast.errors import HoldfastError, InvalidTranscript
from holdfast.gateway.answers import AnswerReader, is_preamble, stream_error
from holdfast.gateway.bodies import HttpRefusal, read_body, spliced, unpacked
from holdfast.gateway.client_side import Heartbeat
from holdfast.gateway.refusals import SIGNS_OF_LIFE, error_body, error_event
from holdfast.gateway.request_log import RequestRecord
from holdfast.gateway.scrubbing import StreamScrubber, scrubbed_answer
from holdfast.gateway.upstream import CREDENTIALS, UpstreamFailed
from holdfast.providers.provider_errors import FailureKind, status_kind
from holdfast.recognition.request import MESSAGES, read_request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.gateway.client_side import ClientSide, Incoming
    from holdfast.gateway.proxy import Proxy, Tenant
    from holdfast.gateway.upstream import Headers, Upstream, UpstreamAnswer
    from holdfast.recognition.request import WireRequest
    from holdfast.wiring.asynchronous import AsyncConversation

_RETRIES = 3
_PATIENCE_S = 10.0
"""How long a request waits until it is recorded."""
_RECORD_S = 2.0
"""How long the end of an answer waits until the answer is recorded."""
_PREAMBLE_S = 2.0
"""How long a stream that has told nothing yet is held back: a refusal comes soon or not at all."""
_LARGEST_ERROR = 1 << 20
_LARGE = 256 << 10
"""Bytes of a request that takes long to read where nothing of it is known."""
_RETRY_AFTER = "5"
_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade".split()
)
"""Headers that are about one connection."""
_REPLACED = frozenset({"host", "content-length", "expect"})
_OWN = "x-holdfast-"
_UNFIT = frozenset({400, 413, 422})
_TROUBLED = frozenset({500, 502, 503, 504, 529})
"""What another upstream may do better."""
_TIMEOUT = 504
_OK = 200
_TOO_MANY = 429
_NOT_MODIFIED = 304
_JSON = ("content-type", "application/json")
_UNRECORDED = "forwarded unchanged and not recorded; the log of the gateway says why"
_DEMANDED = "the request could not be recorded, and gateway.strict demands it"
_LOG = logging.getLogger("holdfast.gateway")


class TakenTurn(Protocol):
    """A request that was recognized and recorded."""

    @property
    def chat(self) -> AsyncConversation | None:
        """Return its conversation; None where the answer is not part of one."""
        ...

    @property
    def how(self) -> str:
        """Return how it was recognized."""
        ...

    @property
    def recalled(self) -> bool:
        """Say whether memory was put into the request, which the answer may repeat."""
        ...

    @property
    def is_as_it_came(self) -> bool:
        """Say whether it is known without a wait that the messages that came in go out."""
        ...

    async def outgoing(self) -> Sequence[object] | None:
        """Return the messages to send; None for those that came in."""
        ...

    async def answered(self, answer: Mapping[str, object], /, *, is_partial: bool) -> None:
        """Record the answer that the client was given."""
        ...


class TurnTaker(Protocol):
    """Finds the conversation of a request, and records what is new in it."""

    async def take(self, request: WireRequest, body: Mapping[str, object], /) -> TakenTurn:
        """Take a request."""
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """The body of a request."""

    raw: bytes
    data: bytes
    """The same, unpacked."""
    fields: dict[str, object] = field(default_factory=dict[str, object])
    """What it says, where it is a request to a model."""
    model: str = ""
    wants_stream: bool = False


class Exchange:
    """One request and its answer."""

    def __init__(self, proxy: Proxy, incoming: Incoming, client: ClientSide, dialect: str) -> None:
        """Take the request; a dialect where it is one to a model."""
        self._proxy = proxy
        self._incoming = incoming
        self._client = client
        self._dialect = dialect
        self._chat: AsyncConversation | None = None
        self._turn: TakenTurn | None = None
        self.record = RequestRecord(incoming.method, incoming.path, dialect)
        """What is told of it to whoever runs the gateway."""
        self._notes: Headers = [(f"{_OWN}request", self.record.request)]
        """Headers of ours that every answer has."""
        self._standing: Headers = []
        """How the conversation stands, as headers."""
        self._is_recorded = False
        self._added = 0.0
        """Seconds that we took before the request went out."""
        self._came = 0.0
        """When the answer came."""

    async def run(self, tenant: Tenant, raw: bytes) -> None:
        """Forward the request, and relay what comes back."""
        began = time.monotonic()
        if len(raw) > _LARGE:
            # Others have their turn while it is read.
            asked = await in_store(partial(self._read, tenant, raw))
        else:
            asked = self._read(tenant, raw)
        self.record.model = asked.model
        heart = Heartbeat(self._begin_early, self._beat)
        if asked.wants_stream and self._dialect in SIGNS_OF_LIFE:
            heart.start(self._proxy.settings.first_byte_seconds)
        try:
            try:
                messages = await self._take(tenant, asked)
                self._note_standing()
                self._added = time.monotonic() - began
                answer, first = await self._answered(tenant, asked, messages)
            finally:
                await heart.stop()
        except UpstreamFailed as failed:
            self._count_failure(failed)
            await self.fail(failed.status, str(failed))
            return
        self._came = time.monotonic()
        try:
            await self._deliver(answer, first, asked)
        finally:
            answer.close()

    async def fail(self, status: int, sentence: str) -> None:
        """Answer with an error of our own, in whatever state the answer is."""
        body = error_body(self._dialect, status, sentence)
        if not self._client.begun:
            await self._client.whole(status, [_JSON, *self._notes, *self._standing], body)
        elif not self._client.ended:
            await self._client.end(error_event(self._dialect, status, body))

    def _read(self, tenant: Tenant, raw: bytes) -> _Asked:
        """Read the body, as far as it is one for a model."""
        incoming, limit = self._incoming, self._proxy.settings.max_body_bytes
        if not self._dialect:
            return _Asked(raw, raw)
        data = unpacked(raw, incoming.header("content-encoding"), limit)
        fields = read_body(data, self._dialect, self._proxy.known, tenant.name)
        named = incoming.path.rpartition("/")[2].partition(":")[0]
        model = named if self._dialect == "gemini" else fields.get("model") or ""
        wants_stream = bool(fields.get("stream")) or ":streamGenerate" in incoming.path
        return _Asked(raw, data, fields, str(model), wants_stream)

    async def _take(self, tenant: Tenant, asked: _Asked) -> Sequence[object] | None:
        """Record what is new, and return the messages to send; None for those that came in."""
        if not self._dialect:
            return None
        keep = self._proxy.keep
        try:
            request = read_request(self._incoming.path, dict(self._incoming.headers), asked.fields)
            if request is None:
                return None
            async with asyncio.timeout(_PATIENCE_S):
                self._turn = turn = await keep(tenant.turns.take(request, asked.fields))
            self._chat = turn.chat
            self.record.recognized = turn.how
            self.record.is_recorded = self._chat is not None
            return None if turn.is_as_it_came else await keep(turn.outgoing())
        except Exception as error:
            self._complain("not recorded", error)
            if self._proxy.settings.strict:
                is_theirs = isinstance(error, InvalidTranscript)
                why = f": {error}" if is_theirs else "; the log of the gateway says why"
                raise HttpRefusal(400 if is_theirs else 503, f"{_DEMANDED}{why}") from error
            self._warn()
            return None

    def _complain(self, what: str, error: Exception) -> None:
        fields = {"request": self.record.request}
        kind = "" if isinstance(error, HoldfastError) else f"{type(error).__name__}: "
        _LOG.warning("%s: %s%s", what, kind, error, extra={"fields": fields})

    def _count_failure(self, failed: UpstreamFailed) -> None:
        self._complain("upstream failed", failed)
        self._proxy.metrics.count("upstream_failures")

    def _warn(self) -> None:
        self._notes.append((f"{_OWN}warning", _UNRECORDED))
        self.record.is_recorded = False
        self._proxy.metrics.count("forwarded_unrecorded")

    def _note_standing(self) -> None:
        """Make the headers that say how the conversation stands."""
        if self._chat is None:
            return
        live = self._chat.sync.live
        compactions = live.state.compactions if live.state else 0
        self.record.session, self.record.tokens = live.id, live.deps.engine.expected_tokens
        self._standing = [
            (f"{_OWN}session", live.id),
            (f"{_OWN}tokens", str(self.record.tokens)),
            (f"{_OWN}compactions", str(compactions)),
        ]
        known = self._proxy.compactions
        before = known.setdefault(self._chat.sync, compactions)
        known[self._chat.sync] = compactions
        self._proxy.metrics.count("compactions", max(compactions - before, 0))

    async def _answered(
        self, tenant: Tenant, asked: _Asked, messages: Sequence[object] | None
    ) -> tuple[UpstreamAnswer, bytes]:
        """Return an answer and its first bytes; what is refused for its size is made smaller."""
        for attempt in range(1, _RETRIES + 2):
            answer = await self._send(tenant, asked, messages)
            if self._chat is None or self._turn is None:
                return answer, b""
            try:
                first, refusal = await _looked_at(answer)
                if not refusal or attempt > _RETRIES:
                    return answer, first
                smaller = await self._recovered(refusal, attempt)
            except BaseException:
                answer.close()
                raise
            if smaller is None:
                return answer, first
            answer.close()
            messages = smaller
        raise AssertionError

    async def _recovered(self, refusal: str, attempt: int) -> Sequence[object] | None:
        """Return messages that are fewer, after an upstream found too many; None without hope."""
        chat, turn = self._chat, self._turn
        if chat is None or turn is None:
            return None

        async def recover() -> Sequence[object] | None:
            await chat.recover(refusal, attempt=attempt)
            return await turn.outgoing()

        self._proxy.metrics.count("recoveries")
        try:
            smaller = await self._proxy.keep(recover())
            self._note_standing()
        except Exception as error:  # noqa: BLE001 - the client gets the upstream's own refusal
            self._complain("not recovered", error)
            return None
        return smaller

    async def _send(
        self, tenant: Tenant, asked: _Asked, messages: Sequence[object] | None
    ) -> UpstreamAnswer:
        incoming, body, is_changed = self._incoming, asked.raw, messages is not None
        if messages is not None:
            name = MESSAGES[self._dialect]
            body = spliced(asked.data, name, messages, asked.fields[name])
            self._proxy.metrics.count("folded_requests")
        dialect = self._dialect or incoming.dialect_of_headers
        for upstream in (fitting := self._proxy.fitting(dialect, asked.model)):
            address = upstream.address(incoming.path, incoming.query, dialect)
            headers = self._headers(tenant, upstream, dialect, is_changed=is_changed)
            try:
                answer = await self._proxy.client.send(incoming.method, address, headers, body)
            except UpstreamFailed as failed:
                # One that was silent may be at work on it still.
                if upstream is fitting[-1] or failed.status == _TIMEOUT:
                    raise
                self._complain("upstream failed", failed)
            else:
                if 300 <= answer.status < 400 and answer.status != _NOT_MODIFIED:
                    answer.close()
                    sentence = "the upstream sends requests elsewhere, which is not followed"
                    raise UpstreamFailed(sentence)
                if upstream is fitting[-1] or answer.status not in _TROUBLED:
                    return answer
                answer.close()
            self._proxy.rest(upstream)
        raise AssertionError

    def _headers(
        self, tenant: Tenant, upstream: Upstream, dialect: str, *, is_changed: bool
    ) -> Headers:
        """Return the client's headers, but for those of its connection and for us."""
        incoming = self._incoming
        named = {each.strip().lower() for each in incoming.header("connection").split(",")}
        left_out = _HOP | _REPLACED | named | tenant.spent
        if is_changed:
            left_out |= {"content-encoding"}
        if self._dialect:
            left_out |= {"accept-encoding"}
        kept = [
            (name, value)
            for name, value in incoming.headers
            if name not in left_out and not name.startswith(_OWN)
        ]
        if self._dialect:
            # What is packed could not be read beside its relay.
            kept.append(("accept-encoding", "identity"))
        has_own = any(name in CREDENTIALS and value for name, value in kept)
        credential = upstream.credential_header(dialect)
        if credential and not has_own and "key=" not in incoming.query:
            kept.append(credential)
        return kept

    async def _deliver(self, answer: UpstreamAnswer, first: bytes, asked: _Asked) -> None:
        encoding = next((value for name, value in answer.headers if name == "content-encoding"), "")
        reader = None
        if self._chat is not None and answer.status == _OK:
            limit = self._proxy.settings.max_body_bytes
            reader = AnswerReader(self._dialect, encoding, limit)
        try:
            if self._client.begun and answer.status != _OK:
                body = await _all(answer, first, _LARGEST_ERROR)
                await self._client.end(error_event(self._dialect, answer.status, body))
            elif (reader is not None or self._scrubs(answer)) and not asked.wants_stream:
                await self._hold(answer, first, reader)
            else:
                await self._relay(answer, first, reader)
        except UpstreamFailed as failed:
            self._count_failure(failed)
            if reader is not None:
                await self._record(reader)
            if not self._client.begun:
                await self.fail(failed.status, str(failed))
            # An answer that has begun is left unfinished: the client sees that it was cut off.
        except asyncio.CancelledError:
            answer.close()
            if reader is not None:
                await self._record(reader)
            raise

    async def _relay(
        self, answer: UpstreamAnswer, first: bytes, reader: AnswerReader | None
    ) -> None:
        """Pass an answer on as it comes; it is recorded before the client can know its end."""
        client, metrics = self._client, self._proxy.metrics
        if not client.begun:
            await self._start(answer)
        metrics.streams += 1
        try:
            scrubber = StreamScrubber(self._dialect) if self._scrubs(answer) else None
            piece = first or await answer.read()
            while piece:
                shown = piece if scrubber is None else scrubber.push(piece)
                held = len(shown) if reader is None else reader.feed(shown)
                if held:
                    await client.write(shown[:held])
                if reader is not None and reader.has_ended():
                    await self._record(reader)
                if shown[held:]:
                    await client.write(shown[held:])
                piece = await answer.read()
            if reader is not None:
                await self._record(reader)
            await client.end(b"" if scrubber is None else scrubber.finish())
        finally:
            metrics.streams -= 1

    async def _hold(
        self, answer: UpstreamAnswer, first: bytes, reader: AnswerReader | None
    ) -> None:
        """Send an answer that comes at once; its last byte waits until it is recorded."""
        body = await _all(answer, first, self._proxy.settings.max_body_bytes)
        if self._scrubs(answer):
            body = scrubbed_answer(self._dialect, body)
        if reader is not None:
            reader.feed(body)
        await self._start(answer)
        if reader is not None:
            await self._client.write(body[:-1])
            body = body[-1:]
            await self._record(reader)
        while piece := await answer.read():
            await self._client.write(body)
            body = piece
        await self._client.end(body)

    def _scrubs(self, answer: UpstreamAnswer) -> bool:
        """Say whether memory is taken out of an answer."""
        return self._turn is not None and self._turn.recalled and answer.status == _OK

    async def _start(self, answer: UpstreamAnswer) -> None:
        """Begin the answer with the upstream's status and headers, and ours."""
        left_out = _HOP | {"content-length"} if self._scrubs(answer) else _HOP
        headers = [pair for pair in answer.headers if pair[0] not in left_out]
        if answer.status == _TOO_MANY and all(name != "retry-after" for name, _ in headers):
            # Some clients give up at once on one without it.
            headers.append(("retry-after", _RETRY_AFTER))
        await self._client.start(answer.status, [*headers, *self._notes, *self._standing])
        added = self._added + time.monotonic() - self._came
        self.record.added_ms = round(1000 * added, 2)
        self._proxy.metrics.added_latency(added)

    async def _record(self, reader: AnswerReader) -> None:
        """Write the answer to the log of its conversation, once."""
        turn = self._turn
        if self._is_recorded or turn is None:
            return
        self._is_recorded = True

        async def record() -> None:
            answer, is_partial = reader.finish()
            if answer is None:
                return
            await turn.answered(answer, is_partial=is_partial)
            if is_partial:
                self._proxy.metrics.count("partial_answers")

        try:
            async with asyncio.timeout(_RECORD_S):
                await self._proxy.keep(record())
        except Exception as error:  # noqa: BLE001 - the client has its answer all the same
            self._complain("answer not recorded", error)
            self._warn()

    async def _begin_early(self) -> None:
        self._proxy.metrics.count("heartbeats")
        kind = ("content-type", "text/event-stream; charset=utf-8")
        await self._client.start(
            _OK, [kind, ("cache-control", "no-cache"), *self._notes, *self._standing]
        )

    async def _beat(self) -> None:
        await self._client.write(SIGNS_OF_LIFE[self._dialect])


async def _looked_at(answer: UpstreamAnswer) -> tuple[bytes, str]:
    """Return the first bytes of an answer, and its words if it refuses a request for its size."""
    if answer.status in _UNFIT:
        first = await _all(answer, b"", _LARGEST_ERROR)
        words = first.decode("utf-8", "replace")
        status = answer.status
    else:
        first = await answer.read()
        if answer.status == _OK and is_preamble(first):
            first = await _begun(answer, first)
        words = stream_error(first) if answer.status == _OK else ""
        status = 400
    return first, words if words and status_kind(status, words) is FailureKind.TOO_LARGE else ""


async def _begun(answer: UpstreamAnswer, first: bytes) -> bytes:
    """Return the beginning of a stream up to what matters, or as much as comes in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_PREAMBLE_S):
            while is_preamble(first) and (piece := await answer.read()):
                first += piece
    return first


async def _all(answer: UpstreamAnswer, first: bytes, limit: int) -> bytes:
    """Return a body, or as much of it as is over the limit."""
    pieces, size = [first], len(first)
    while size <= limit and (piece := await answer.read()):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)
