"""Every error a caller may catch, as one tree.

Errors are for the caller's mistakes and for the world's failures; expected endings of a
compaction are outcomes, not errors.

```
HoldfastError
├── ConfigError                a setting that cannot be used, with the key and what is allowed
│   └── UnknownOption          a keyword that a call does not take; also a `TypeError`
├── InvalidTranscript          breaks a rule; carries the violations
│   └── DecodeError            not readable as the named dialect; carries the place
├── SummarizerError            the world failed while a summary was written
│   ├── SummarizerUnavailable  worth another try, perhaps after `retry_after` seconds
│   ├── SummarizerMisread      an answer came, and could not be read (cut stream, broken JSON)
│   ├── SummarizerMissing      no such model, or no summarizer is configured
│   └── SummarizerDenied       the credential was refused
├── ModelError                 the model of a conversation did not answer
│   ├── ModelUnavailable       worth another try, perhaps after `retry_after` seconds
│   ├── ModelOverflow          the request was too large for it; compact and try again
│   ├── ModelMissing           there is no such model at that address
│   └── ModelDenied            the credential was refused, or there is none
├── MemoryRefused              an edit of the memory files is not allowed; says why
├── MemoryUnavailable          a memory provider did not answer, or its file cannot be used
├── StoreError                 stored sessions cannot be read or written; says where and why
│   ├── StoreDamaged           what is stored is not what was written; says how to repair it
│   ├── StoreBusy              other writers held the store for too long
│   ├── UnknownSession         there is no session, message or view of that name
│   ├── SessionEnded           nothing more can be said in it; says where it goes on
│   └── Conflict               somebody else changed the window first; read it again
└── MissingExtra               an optional dependency is needed and not installed
```
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Violation


class HoldfastError(Exception):
    """The root of all errors that holdfast raises on purpose."""


class ConfigError(HoldfastError):
    """A setting cannot be used; the message names the key, the value and what is allowed."""


class UnknownOption(ConfigError, TypeError):
    """A call has no keyword of that name; the message says which one may be meant."""


class InvalidTranscript(HoldfastError):
    """A transcript breaks rules that a provider enforces."""

    def __init__(self, message: str, violations: Sequence[Violation] = ()) -> None:
        """Keep the violations beside the sentence that names the first of them."""
        super().__init__(message)
        self.violations = tuple(violations)


class DecodeError(InvalidTranscript):
    """A document could not be read as the dialect it was taken for."""

    def __init__(self, dialect: str, path: str, problem: str) -> None:
        """Name the dialect, the place (such as `messages[3].content`) and the problem."""
        super().__init__(f"{dialect}: {path}: {problem}")
        self.dialect = dialect
        self.path = path
        self.problem = problem


class SummarizerError(HoldfastError):
    """A summarizer could not deliver."""


class SummarizerUnavailable(SummarizerError):
    """The summarizer failed in a way that may pass: timeout, rate limit, bad gateway."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """Keep the provider's wish for when to come back, in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class SummarizerMisread(SummarizerError):
    """An answer arrived and could not be read: malformed JSON, a stream that closed early."""


class SummarizerMissing(SummarizerError):
    """The model does not exist at the provider, or no summarizer is configured."""


class SummarizerDenied(SummarizerError):
    """The provider refused the credential."""


class ModelError(HoldfastError):
    """The model of a conversation did not answer."""


class ModelUnavailable(ModelError):
    """The model failed in a way that may pass: timeout, rate limit, no connection."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """Keep the provider's wish for when to come back, in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class ModelOverflow(ModelError):
    """The request was too large; the message is the provider's and may state the true window."""


class ModelMissing(ModelError):
    """There is no such model at that address."""


class ModelDenied(ModelError):
    """The credential was refused, or there is none."""


class MemoryRefused(HoldfastError):
    """An edit of the memory files is not allowed; the message says why and what is."""


class MemoryUnavailable(HoldfastError):
    """A memory provider did not answer, or what it keeps cannot be read; the message says why."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        """Keep the service's wish for when to come back, in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class StoreError(HoldfastError):
    """Stored sessions cannot be used; the message names the file and says what to do."""


class StoreDamaged(StoreError):
    """What is stored is not what was written."""


class StoreBusy(StoreError):
    """Other writers held the store longer than a caller should wait; trying again is safe."""


class UnknownSession(StoreError):
    """There is no session, message or view of that name."""


class SessionEnded(StoreError):
    """Nothing more can be appended to the session; the message says where it goes on."""


class Conflict(StoreError):
    """Somebody else changed the window since it was read; nothing was written."""


class MissingExtra(HoldfastError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        """Say which extra brings the dependency."""
        super().__init__(f"{feature} needs an extra: pip install 'holdfast[{extra}]'")
        self.extra = extra


def reason_of(error: OSError | ValueError) -> str:
    """Return why a file cannot be opened, in words for the end of a sentence.

    Most often it is a conversation for each user, each with a store of its own, that uses up what
    a process may have open.
    """
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return (
            "this process has too many files open; close() conversations that are done, or let "
            "many share one store: holdfast.Conversations(place), or store=chat.store"
        )
    return str(getattr(error, "strerror", None) or error)
