"""Forwards what comes in, and is the edge at which everything ends as a sentence.

Who asks is for `authorize` to say, and which conversation it is for the tenant's `turns`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

from holdfast.gateway.bodies import HttpRefusal
from holdfast.gateway.client_side import ClientSide, Gone, Incoming, gone, read_body
from holdfast.gateway.exchange import Exchange
from holdfast.gateway.request_log import RequestLog
from holdfast.gateway.upstream import alternatives
from holdfast.recognition.request import dialect_of_path
from holdfast.recognition.slices import KnownSlices
from holdfast.wiring.conversations import Conversation

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from starlette.types import Receive, Scope, Send

    from holdfast.config.settings import GatewaySettings
    from holdfast.gateway.exchange import TurnTaker
    from holdfast.gateway.metrics import Metrics
    from holdfast.gateway.upstream import Upstream, UpstreamClient

_PATIENCE_S = 10.0
_REST_S = 30.0
"""How long an upstream that failed is tried after its alternatives."""
_LOG = logging.getLogger("holdfast.gateway")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose conversations a request may belong to."""

    turns: TurnTaker
    name: str = ""
    """Tells tenants apart in the log."""
    spent: frozenset[str] = frozenset()
    """Headers that held our own token, and are for no upstream."""


class Authorize(Protocol):
    """Says who asks."""

    async def __call__(self, incoming: Incoming, /) -> Tenant:
        """Return the tenant of a request.

        Raises:
            HttpRefusal: with status 401 or 403, when nobody may ask so.
        """
        ...


@dataclass(slots=True)
class Proxy:
    """An ASGI application that forwards every request."""

    settings: GatewaySettings
    upstreams: Sequence[Upstream]
    client: UpstreamClient
    authorize: Authorize
    metrics: Metrics
    compactions: WeakKeyDictionary[Conversation, int] = field(
        default_factory=WeakKeyDictionary[Conversation, int]
    )
    """How often each conversation was compacted when it was last looked at."""
    known: KnownSlices = field(default_factory=KnownSlices)
    """What was said in recent requests, which is not read again."""
    log: RequestLog = field(default_factory=RequestLog)
    _resting: dict[str, float] = field(default_factory=dict[str, float])
    """Addresses of upstreams that failed not long ago, and when."""
    _kept: set[asyncio.Task[object]] = field(default_factory=set[asyncio.Task[object]])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        incoming, client = Incoming.of(scope), ClientSide(send)
        dialect = _dialect(incoming)
        began = time.monotonic()
        exchange = Exchange(self, incoming, client, dialect)
        try:
            tenant = await self.authorize(incoming)
            exchange.record.tenant = tenant.name
            raw = await read_body(receive, incoming, self.settings.max_body_bytes)
            await _while_there(receive, client, exchange.run(tenant, raw))
        except Gone:
            pass
        except HttpRefusal as refused:
            await exchange.fail(refused.status, refused.sentence)
        except Exception:  # noqa: BLE001 - the outermost edge
            _LOG.exception("request %s failed", exchange.record.request)
            await exchange.fail(500, "the gateway failed; its log says where")
        finally:
            self.metrics.count("requests", dialect=dialect or "other", status=str(client.status))
            exchange.record.status = client.status
            exchange.record.milliseconds = round(1000 * (time.monotonic() - began), 1)
            self.log.write(exchange.record, incoming.headers)

    def fitting(self, dialect: str, model: str) -> Sequence[Upstream]:
        """Return the upstreams for a request, in the order in which they are tried."""
        now = time.monotonic()
        for address in [each for each, at in self._resting.items() if at + _REST_S < now]:
            del self._resting[address]
        return alternatives(self.upstreams, dialect, model, self._resting)

    def rest(self, upstream: Upstream) -> None:
        """Try others before an upstream that failed, for a while."""
        self._resting[upstream.url] = time.monotonic()
        self.metrics.count("failovers")

    async def keep(self, work: Coroutine[object, object, _Result]) -> _Result:
        """Wait for work that goes on when nobody waits for it any more."""
        task = asyncio.get_running_loop().create_task(work)
        kept = cast("asyncio.Task[object]", task)
        self._kept.add(kept)
        task.add_done_callback(lambda _: self._settled(kept))
        return await asyncio.shield(task)

    async def drain(self) -> None:
        """Wait for what is still being written, then close the connections."""
        if self._kept:
            await asyncio.wait(self._kept, timeout=_PATIENCE_S)
        await self.client.close()

    def _settled(self, task: asyncio.Task[object]) -> None:
        self._kept.discard(task)
        if not task.cancelled():
            # Looked at, so that the event loop does not report what nobody waited for.
            task.exception()


def _dialect(incoming: Incoming) -> str:
    """Return the dialect of a request to a model; nothing for any other."""
    if incoming.method != "POST":
        return ""
    return dialect_of_path(incoming.path)


async def _while_there(
    receive: Receive, client: ClientSide, work: Coroutine[object, object, None]
) -> None:
    """Do the work until it is done or the client has gone, which cancels it.

    Raises:
        Gone: when it was cancelled.
    """
    watch = asyncio.get_running_loop().create_task(gone(receive))
    task, is_over = asyncio.current_task(), False

    def leave(_: object) -> None:
        # A server reports an answer that was taken to its end as a client that has gone.
        if task is not None and not is_over and not client.ended:
            task.cancel()

    watch.add_done_callback(leave)
    try:
        await work
    except asyncio.CancelledError:
        if task is None or not watch.done() or client.ended:
            raise
        task.uncancel()
        raise Gone from None
    finally:
        is_over = True
        watch.cancel()
