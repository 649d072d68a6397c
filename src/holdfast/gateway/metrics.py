"""Figures of a running gateway, in the text format of Prometheus; they name no one."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

_BOUNDS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
_COUNTERS = {
    "requests": "Requests by dialect and status.",
    "upstream_failures": "Requests that an upstream did not answer, or not to the end.",
    "failovers": "Requests that went on to another upstream because one failed.",
    "forwarded_unrecorded": "Requests that were forwarded although they could not be recorded.",
    "folded_requests": "Requests that went out with a summary in place of old messages.",
    "recoveries": "Compactions because an upstream found a request too large.",
    "compactions": "Compactions of conversations, whatever the reason.",
    "partial_answers": "Answers that ended in the middle.",
    "heartbeats": "Streams that were begun with a sign of life.",
}
_PREFIX = "holdfast_gateway"


class Metrics:
    """Counts what one process does."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._counts: Counter[tuple[str, str]] = Counter()
        self._latencies = [0] * (len(_BOUNDS) + 1)
        self._latency_sum = 0.0
        self.streams = 0
        """Answers that are being relayed."""

    def count(self, name: str, number: int = 1, /, **labels: str) -> None:
        """Add to a counter."""
        written = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
        self._counts[name, written] += number

    def added_latency(self, seconds: float) -> None:
        """Take in what the gateway added to the time to the first byte of one answer."""
        self._latencies[bisect_left(_BOUNDS, seconds)] += 1
        self._latency_sum += seconds

    def text(self) -> str:
        """Return everything as Prometheus reads it."""
        lines: list[str] = []
        for name, about in _COUNTERS.items():
            full = f"{_PREFIX}_{name}_total"
            lines += [f"# HELP {full} {about}", f"# TYPE {full} counter"]
            found = {at[1]: count for at, count in self._counts.items() if at[0] == name} or {"": 0}
            lines += [
                f"{full}{{{labels}}} {count}" if labels else f"{full} {count}"
                for labels, count in sorted(found.items())
            ]
        full = f"{_PREFIX}_streams"
        lines += [f"# HELP {full} Answers that are being relayed.", f"# TYPE {full} gauge"]
        lines.append(f"{full} {self.streams}")
        full = f"{_PREFIX}_added_latency_seconds"
        lines += [f"# HELP {full} What the gateway adds to the time to the first byte."]
        lines.append(f"# TYPE {full} histogram")
        total = 0
        for bound, count in zip([*map(str, _BOUNDS), "+Inf"], self._latencies, strict=True):
            total += count
            lines.append(f'{full}_bucket{{le="{bound}"}} {total}')
        lines += [f"{full}_sum {self._latency_sum:.6f}", f"{full}_count {total}"]
        return "\n".join(lines) + "\n"
