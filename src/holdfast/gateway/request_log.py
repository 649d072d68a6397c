"""What is told of each request to whoever runs the gateway: a line in the log, and a span.

Neither has anything of what was said, no query and no credential.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING
from uuid import uuid4

from holdfast.redaction import Redactor
from holdfast.views.words import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.trace import Tracer

_LONGEST = 200
_TROUBLE = 500
_LOG = logging.getLogger("holdfast.gateway")


@dataclass(slots=True)
class RequestRecord:
    """One request that was forwarded."""

    method: str
    path: str
    dialect: str
    """Empty where it is no request to a model."""
    request: str = field(default_factory=lambda: uuid4().hex)
    tenant: str = ""
    model: str = ""
    session: str = ""
    recognized: str = ""
    """How it belongs to the session: root, extends, retry, branch, revision or side call."""
    tokens: int = 0
    """What the window of the session weighs, by our own count."""
    status: int = 0
    """0 where the client went away before the answer began."""
    is_recorded: bool = False
    """Whether it is a turn of the session, in the store."""
    added_ms: float = 0.0
    """What the gateway added to the time to the first byte."""
    milliseconds: float = 0.0
    """From the first byte of the request to the last of the answer."""


class RequestLog:
    """Tells of each request when it has ended."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        """Write lines where they are wanted, and spans where there is what makes them."""
        self._tracer = tracer
        self._redact = Redactor().redact

    def write(self, record: RequestRecord, headers: Iterable[tuple[str, str]]) -> None:
        """Tell of a request.

        Args:
            record: What is told.
            headers: What came with it, for the trace that it may belong to.
        """
        if self._tracer is None and not _LOG.isEnabledFor(logging.INFO):
            return
        fields = asdict(record)
        for name in ("path", "model"):
            fields[name] = self._redact(fields[name])[:_LONGEST]
        _LOG.info("request", extra={"fields": fields})
        if self._tracer is None:
            return
        from opentelemetry import propagate, trace

        end = time.time_ns()
        span = self._tracer.start_span(
            f"{record.method} {record.dialect or 'other'}",
            context=propagate.extract(dict(headers)),
            kind=trace.SpanKind.SERVER,
            attributes={f"holdfast.{name}": value for name, value in fields.items()},
            start_time=end - round(record.milliseconds * 1e6),
        )
        if record.status >= _TROUBLE:
            span.set_status(trace.StatusCode.ERROR)
        span.end(end)


def tracer() -> Tracer | None:
    """Return what makes spans, where OpenTelemetry was set up before; else nothing is loaded."""
    if find_spec("opentelemetry") is None:
        return None
    from opentelemetry import trace

    is_set_up = not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    return trace.get_tracer("holdfast.gateway") if is_set_up else None


class _JsonLines(logging.Formatter):
    """One JSON object for each event; contents of conversations are never logged.

    Words of other libraries may quote what was sent, so that they are redacted.
    """

    def __init__(self) -> None:
        super().__init__()
        self._redact = Redactor().redact

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of an event."""
        fields = {
            "time": iso_time(round(1000 * record.created)),
            "level": record.levelname.lower(),
            "message": self._redact(record.getMessage()),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            fields["trace"] = self._redact(self.formatException(record.exc_info))
        return json.dumps(fields)


def log_to_stderr(*, requests: bool) -> None:
    """Write what is worth a warning as JSON lines to standard error, and each request if wanted."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines())
    log = logging.getLogger("holdfast")
    log.addHandler(handler)
    log.propagate = False
    if requests:
        _LOG.setLevel(logging.INFO)
