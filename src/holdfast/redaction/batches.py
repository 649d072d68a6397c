"""Redacting many texts at once.

Each redaction has a fixed cost that a short text does not earn, and a record is made of hundreds of
them. Joined, they are redacted in one go and parted again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["redact_all", "redacting"]

_MARK = "\x1e"
# Blank lines end every value that a name announces, and the brackets end the lines of a key.
_SEPARATOR = f"\n\n[{_MARK}]\n\n"
_TOGETHER = 200_000
"""Characters that are joined at most."""


def redact_all(texts: Iterable[str], redact: Callable[[str], str]) -> list[str]:
    """Return the texts redacted, as if each had been redacted alone.

    Where something was found across two texts, or a text holds the mark that parts them, each of
    them is redacted on its own.
    """
    found: list[str] = []
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > _TOGETHER:
            found += _redacted(batch, redact)
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    return [*found, *_redacted(batch, redact)]


def redacting(texts: Iterable[str], redact: Callable[[str], str]) -> Callable[[str], str]:
    """Return a redaction that has the answer for these texts already."""
    ahead = list(dict.fromkeys(texts))
    known = dict(zip(ahead, redact_all(ahead, redact), strict=True))
    return lambda text: known[text] if text in known else redact(text)


def _redacted(batch: Sequence[str], redact: Callable[[str], str]) -> Sequence[str]:
    joined = _SEPARATOR.join(batch)
    if joined.count(_MARK) == len(batch) - 1:
        masked = redact(joined)
        if masked == joined:
            return batch
        parted = masked.split(_SEPARATOR)
        if len(parted) == len(batch):
            # What nothing was masked in stays the same object, which others know already.
            return [
                text if text == shown else shown for text, shown in zip(batch, parted, strict=True)
            ]
    return [redact(text) for text in batch]
