"""How a provider is doing: what `status` and `memory show` tell."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field, replace

from holdfast.deadline import sentence_of

__all__ = ["MemoryStatus", "ProviderStatus", "ProviderTroubles"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """One provider since the session began."""

    name: str
    trouble: str = ""
    """The last thing that went wrong, as a sentence."""
    late: int = 0
    """How often its deadline passed."""
    raised: int = 0
    skipped: int = 0
    """How often it was not asked, because an earlier call still hung or too much waited."""
    left_out: int = 0
    """Suspicious lines of its texts that were replaced by a note."""
    waiting: int = 0
    """Calls in the background that have not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStatus:
    """How memory is doing."""

    builtin: ProviderStatus
    external: ProviderStatus | None = None

    @property
    def provider(self) -> str:
        """Return the name of the external provider, or nothing."""
        return self.external.name if self.external else ""

    @property
    def trouble(self) -> str:
        """Return the last thing that went wrong, the external provider's first."""
        return (self.external.trouble if self.external else "") or self.builtin.trouble

    @property
    def late(self) -> int:
        """Return how often a deadline passed."""
        return self.builtin.late + (self.external.late if self.external else 0)

    @property
    def waiting(self) -> int:
        """Return how many calls in the background have not ended."""
        return self.builtin.waiting + (self.external.waiting if self.external else 0)


@dataclass(slots=True)
class ProviderTroubles:
    """What went wrong with one provider; several threads write it down.

    Each kind of trouble is logged once: a service that is down is down at every turn.
    """

    standing: ProviderStatus
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _logged: set[str] = field(default_factory=set[str])

    def was_late(self, label: str) -> str:
        """Note that a deadline passed; return the sentence about it, as the others do."""
        with self._lock:
            self.standing = replace(self.standing, late=self.standing.late + 1)
        return self._note(
            label, f"{label} did not answer within its deadline and was not waited for"
        )

    def has_raised(self, label: str, error: BaseException) -> str:
        """Note that a call failed."""
        with self._lock:
            self.standing = replace(self.standing, raised=self.standing.raised + 1)
        kind = f"{label} {type(error).__name__}"
        said = sentence_of(error)[:300]
        words = f"{type(error).__name__}: {said}" if said else type(error).__name__
        return self._note(kind, f"{label} failed: {words}")

    def was_skipped(self, label: str, reason: str) -> str:
        """Note that the provider was not asked."""
        with self._lock:
            self.standing = replace(self.standing, skipped=self.standing.skipped + 1)
        return self._note(f"skipped {label}", f"{label} was left out: {reason}")

    def was_screened(self, label: str, lines: int) -> str:
        """Note that a text had suspicious lines."""
        with self._lock:
            self.standing = replace(self.standing, left_out=self.standing.left_out + lines)
        plural = "s" if lines > 1 else ""
        words = f"{lines} suspicious line{plural} of {label} left out"
        return self._note(f"screened {label}", words)

    def was_refused(self, label: str, reason: str) -> str:
        """Note that something of the provider's is not used."""
        return self._note(f"refused {label}", f"{label} is not used: {reason}")

    def was_cut(self, label: str, size: int, kept: int) -> str:
        """Note that a text was too long."""
        words = f"{label} has {size:,} characters; {kept:,} are used"
        return self._note(f"cut {label}", words)

    def _note(self, kind: str, words: str) -> str:
        with self._lock:
            self.standing = replace(self.standing, trouble=words)
            is_first = kind not in self._logged
            self._logged.add(kind)
        level = logging.WARNING if is_first else logging.DEBUG
        _log.log(level, "memory provider %s: %s", self.standing.name, words)
        return words
