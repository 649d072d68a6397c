"""Limits in three currencies, and what real usage teaches about the estimate.

Providers refuse a request for its tokens, for its bytes, or for its images, whichever runs out
first; a long session full of screenshots meets the byte limit at a fraction of the window.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.tokens.scale import Load

__all__ = ["Budget", "Calibration"]

_WEIGHT_OF_NEWEST = 0.5
_LOWEST_RATIO, _HIGHEST_RATIO = 0.3, 4.0


@dataclass(frozen=True, slots=True)
class Budget:
    """The most a request may hold."""

    tokens: int
    bytes: int = 20_000_000
    """Request bodies are refused from about 20 MB on."""
    images: int = 100

    def exceeded(self, load: Load) -> tuple[str, ...]:
        """Return one sentence for each limit that the load is over."""
        pairs = (
            ("tokens", load.tokens, self.tokens),
            ("bytes", load.bytes, self.bytes),
            ("images", load.images, self.images),
        )
        return tuple(f"{used:,} of {limit:,} {name}" for name, used, limit in pairs if used > limit)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The ratio of real to estimated tokens, learned from a provider's reports.

    Local servers that report zero teach nothing: the estimate stays as it is.
    """

    ratio: float = 1.0
    reports: int = 0

    def observe(self, *, real: int, rough: int) -> Calibration:
        """Return what is known after one more report of real usage."""
        if real <= 0 or rough <= 0:
            return self
        seen = min(max(real / rough, _LOWEST_RATIO), _HIGHEST_RATIO)
        ratio = seen if not self.reports else self.ratio + _WEIGHT_OF_NEWEST * (seen - self.ratio)
        return Calibration(ratio, self.reports + 1)
