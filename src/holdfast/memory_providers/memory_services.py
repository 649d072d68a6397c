"""What a memory service's failure means, in one sentence: the same for every service."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from holdfast.errors import MemoryUnavailable
from holdfast.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Service"]

_LONGEST = 300
_DENIED = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Service:
    """A service by its name, and the environment variable that holds its credential."""

    name: str
    variable: str
    key: str | None = None
    """The credential itself, so that it never stands in a message."""

    def rejected(self, status: int, body: object, after: float | None = None) -> MemoryUnavailable:
        """Return the error for an answer with this HTTP status."""
        words = self._safe(_sentence(body))
        http = f"HTTP {status}: {words}" if words else f"HTTP {status}"
        if status in _DENIED:
            return MemoryUnavailable(
                f"{self.name} refused the credential; check {self.variable} ({http})"
            )
        if status == 429:
            wish = f" in {after:g} s" if after is not None else " later"
            return MemoryUnavailable(
                f"{self.name} has had too many requests; it can be asked again{wish} ({http})",
                retry_after=after,
            )
        return MemoryUnavailable(f"{self.name} did not do it ({http})", retry_after=after)

    def silent(self, seconds: float) -> MemoryUnavailable:
        """Return the error for an answer that did not come in time."""
        return MemoryUnavailable(f"{self.name} gave no answer within {seconds:g} s")

    def unreachable(self, error: Exception | str) -> MemoryUnavailable:
        """Return the error for a connection that failed."""
        return MemoryUnavailable(f"{self.name} cannot be reached: {self._safe(str(error))}")

    def misread(self, error: Exception | str) -> MemoryUnavailable:
        """Return the error for an answer that is not what the service answers."""
        return MemoryUnavailable(
            f"{self.name} answered what cannot be read: {self._safe(str(error))}"
        )

    def _safe(self, text: str) -> str:
        if self.key:
            text = text.replace(self.key, "***")
        words = " ".join(redact(text).split())
        return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _sentence(body: object) -> str:
    """Return what an error body says: its `detail` or `message`, else all of it."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return str(body)
    if isinstance(body, dict):
        fields = cast("Mapping[str, object]", body)
        for name in ("detail", "message", "error"):
            if fields.get(name):
                return _sentence(fields[name])
        return json.dumps(fields)
    return "" if body is None else str(body)
