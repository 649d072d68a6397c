"""The gate before every application of the gateway: who asks, how much, and a line for the books.

What is written down says who asked when for what and how it ended. It has no words of anybody's
conversation, no query and no credential.
"""

from __future__ import annotations

import json
import logging
import os
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

import msgspec

from holdfast.config import home
from holdfast.errors import reason_of
from holdfast.gateway.client_side import Incoming
from holdfast.gateway.refusals import error_body
from holdfast.gateway.tenants import ADMITTED, ApiError
from holdfast.recognition.request import dialect_of_path
from holdfast.redaction import Redactor
from holdfast.views.words import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from holdfast.gateway.tenants import Tenants

_SESSION = b"x-holdfast-session"
_REQUEST = b"x-holdfast-request"
_LONGEST_PATH = 200
_PATHS = 256
"""Paths that are known to have no secret, or what they are without it; clients ask for few."""
_LARGEST_LOG = 64 << 20
_LOG = logging.getLogger("holdfast.gateway")


class ErrorBody(Protocol):
    """Writes an error as the clients of an application read it."""

    def __call__(self, path: str, error: ApiError, /) -> bytes:
        """Return the JSON of an answer."""
        ...


def api_error_body(_: str, error: ApiError, /) -> bytes:
    """Return an error in the one shape that every answer of the REST interface has."""
    return json.dumps({"error": {"code": error.code, "message": str(error)}}).encode()


def dialect_error_body(path: str, error: ApiError, /) -> bytes:
    """Return an error as the provider writes it that a client thinks it asks."""
    return error_body(dialect_of_path(path), error.status, str(error))


@dataclass(slots=True)
class AuditRecord:
    """One request, without anything that was said."""

    at: str | None
    tenant: str | None
    token: str | None
    peer: str | None
    method: str
    path: str
    status: int = 0
    session: str | None = None
    request: str | None = None
    bytes_in: int = 0
    bytes_out: int = 0
    milliseconds: int = 0


class AuditLog:
    """A file to which a line is added for each request; only its owner reads it.

    One that has grown large is set aside as `NAME.1`, in place of the one before.
    """

    def __init__(self, path: Path) -> None:
        """Take the place of the file; it is made with the first line."""
        self.path = path
        self._redact = lru_cache(_PATHS)(Redactor().redact)

    def write(self, record: AuditRecord) -> None:
        """Add a line; a file that cannot be written is named in the log and stops nobody."""
        record.path = self._redact(record.path)[:_LONGEST_PATH]
        line = msgspec.json.encode(record) + b"\n"
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, line)
                is_large = os.fstat(descriptor).st_size > _LARGEST_LOG
            finally:
                os.close(descriptor)
            if is_large:
                os.replace(self.path, self.path.with_name(f"{self.path.name}.1"))
        except OSError as error:
            _LOG.error("%s cannot be written: %s", self.path, reason_of(error))


def audit_log(environ: Mapping[str, str]) -> AuditLog:
    """Return the audit log of this installation."""
    return AuditLog(home(environ) / "gateway-audit.jsonl")


class TenantGate:
    """An ASGI application that lets requests through to another, each for its tenant."""

    def __init__(
        self,
        app: ASGIApp,
        tenants: Tenants,
        audit: AuditLog,
        refusal: ErrorBody = api_error_body,
    ) -> None:
        """Stand before an application.

        Args:
            app: The application; it finds who asks in `ADMITTED`.
            tenants: Know who may ask.
            audit: Where requests are written down.
            refusal: How a refusal is written.
        """
        self._app = app
        self._tenants = tenants
        self._audit = audit
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or refuse it."""
        began, headers = time.monotonic(), Incoming.of(scope).headers
        client = cast("tuple[str, int] | None", scope.get("client"))
        exchange = _Exchange(
            AuditRecord(
                at=iso_time(round(time.time() * 1000)),
                tenant=None,
                token=None,
                peer=client[0] if client else None,
                method=str(scope["method"]),
                path=str(scope["path"]),
            ),
            receive,
            send,
        )
        try:
            admission = await self._tenants.admit(headers, exchange.record.peer)
            limits = admission.tenant.limits
            exchange.record.tenant, exchange.record.token = (
                admission.tenant.name,
                admission.token or None,
            )
            limits.begin()
            held = ADMITTED.set(admission)
            try:
                exchange.limit = limits.max_body_bytes
                exchange.check_length(headers)
                await self._app(scope, exchange.receive, exchange.send)
            finally:
                ADMITTED.reset(held)
                limits.end()
        except ApiError as error:
            if exchange.record.status:
                # The answer has begun: nothing can be said any more but by ending it.
                raise
            await exchange.refuse(error, self._refusal(exchange.record.path, error))
        finally:
            exchange.record.milliseconds = round(1000 * (time.monotonic() - began))
            self._audit.write(exchange.record)


class _Exchange:
    """A request and its answer, weighed as they pass."""

    def __init__(self, record: AuditRecord, receive: Receive, send: Send) -> None:
        self.record = record
        self.limit = 0
        self._receive = receive
        self._send = send

    def check_length(self, headers: Iterable[tuple[str, str]]) -> None:
        """Refuse a body by what its header says; most of it is not read then."""
        length = next((value for name, value in headers if name == "content-length"), "")
        if length.isdigit() and int(length[:20]) > self.limit:
            raise self._too_large()

    async def receive(self) -> Message:
        message = await self._receive()
        self.record.bytes_in += len(message.get("body", b""))
        if self.record.bytes_in > self.limit:
            raise self._too_large()
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.record.status = message["status"]
            headers = dict(cast("list[tuple[bytes, bytes]]", message.get("headers", [])))
            if _SESSION in headers:
                self.record.session = headers[_SESSION].decode("latin-1")
            if _REQUEST in headers:
                self.record.request = headers[_REQUEST].decode("latin-1")
        self.record.bytes_out += len(message.get("body", b""))
        await self._send(message)

    async def refuse(self, error: ApiError, body: bytes) -> None:
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ]
        if error.status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if error.retry_after:
            headers.append((b"retry-after", str(error.retry_after).encode()))
        await self.send({"type": "http.response.start", "status": error.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})

    def _too_large(self) -> ApiError:
        return ApiError(
            413,
            "too_large",
            f"the request is larger than {self.limit:,} bytes (gateway.max_body_bytes)",
        )
