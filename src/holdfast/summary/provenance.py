"""Only users speak for users: asks and approvals in a record are traced to their words.

Summaries invent requests, and agents then act on them. An entry that puts words into a user's
mouth is kept when they can be found there, and otherwise marked or removed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.summary.cues import APPROVAL_CLAIM, ASK_CLAIM, CONSENT
from holdfast.summary.record import words_of
from holdfast.summary.tracing import Said
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.summary.record import Record

__all__ = ["NOT_FOUND", "UNVERIFIED", "Heard", "quoted_input", "verify"]

NOT_FOUND = "(not found in the user's words)"
"""What follows a claim that nobody can be shown to have made."""
UNVERIFIED = "Unverified summary"
"""Who says what a summary of unknown authorship puts into a user's mouth."""

_TRACED = 0.5
_LIKELY = 0.25
_BRIEF_CONSENT = 80
_LONGEST_INPUT = (4_000, 3_000, 900)

_QUOTED = re.compile(r"\"([^\"\n]{4,})\"|“([^”]{4,})”|«([^»]{4,})»|「([^」]{2,})」|『([^』]{2,})』")


class Heard:
    """What users are known to have said, indexed once for many records."""

    def __init__(self, user_words: Sequence[str], unverified: Sequence[str] = ()) -> None:
        """Index the words, the newest of which come last, and what only somebody claims of them."""
        self.said = Said(user_words)
        self._unverified = Said(unverified)
        self.newest = user_words[-1] if user_words else ""
        self.consented = any(
            len(words) <= _BRIEF_CONSENT and CONSENT.search(words) for words in user_words
        )

    def is_borrowed(self, entry: str) -> bool:
        """Say whether only a summary of unknown authorship says what an entry says."""
        if self._unverified.overlap(entry) < _TRACED or self.quotes(entry):
            return False
        return self.said.overlap(entry) < _TRACED

    def quotes(self, entry: str) -> bool:
        """Say whether the entry is what a user said, whole or by all its quotations."""
        if self.said.holds(entry.strip("\"'“”«»「」> \n")):
            return True
        quotes = _quotations(entry)
        return bool(quotes) and all(map(self.said.holds, quotes))


def verify(record: Record, heard: Heard) -> tuple[Record, tuple[str, ...]]:
    """Return the record without asks and approvals that no user made, and what was changed."""
    check = _Check(heard)
    task = check.task(record.task)
    pending = tuple(check.pending(entry) for entry in record.pending)
    others = {
        name: [check.claims(entry) for entry in entries]
        for name, entries in record.sections()
        if name not in {"task", "pending"}
    }
    for name in ("goal", "constraints"):
        borrowed = [entry for entry in others[name] if heard.is_borrowed(entry)]
        others[name] = [entry for entry in others[name] if entry not in borrowed]
        others["critical"] += [check.unverified(entry) for entry in borrowed]
    kept = {name: tuple(entries) for name, entries in others.items()}
    return replace(record, task=task, pending=pending, **kept), tuple(check.warnings)


def quoted_input(words: str) -> str:
    """Return a user's input word for word; only a huge one loses its middle."""
    limit, front, back = _LONGEST_INPUT
    if len(words) <= limit:
        return words
    left_out = len(words) - front - back
    return f"{words[:front]}\n[{left_out:,} characters left out]\n{words[-back:]}"


class _Check:
    """One record held against the users' words, and what was found not to be in them."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._said = heard.said
        self.warnings: list[str] = []

    def task(self, entries: tuple[str, ...]) -> tuple[str, ...]:
        """Return the task snapshot with nothing in it but what the user said."""
        entries = tuple(entry for entry in entries if NOT_FOUND not in entry)
        verbatim = tuple(entry for entry in entries if self._heard.quotes(entry))
        traced = tuple(entry for entry in entries if self._said.overlap(entry) >= _TRACED)
        for entry in entries:
            if entry not in verbatim and entry not in traced:
                self._warn("replaced a task that no user gave", entry)
        if verbatim:
            return verbatim
        return (*traced, quoted_input(self._heard.newest)) if self._heard.newest else ()

    def pending(self, entry: str) -> str:
        """Return an ask, marked when it cannot be traced; nothing when it is clearly invented."""
        if NOT_FOUND in entry or self._heard.quotes(entry) or self._said.overlap(entry) >= _TRACED:
            return entry
        if self._said.resembles(entry) < _LIKELY:
            self._warn("removed an ask that no user made", entry)
            return ""
        return self._marked(entry)

    def claims(self, entry: str) -> str:
        """Return an entry of any section; what its lines say of the user must be traceable."""
        checked = ((line, self._claim(line)) for line in entry.split("\n"))
        return "\n".join(found for line, found in checked if found or not line)

    def unverified(self, entry: str) -> str:
        """Return a goal or a rule that only a summary of unknown authorship knows, as its claim."""
        self._warn("moved what only an unverified summary says", entry)
        return f"{UNVERIFIED}: {' '.join(entry.split())}"

    def _claim(self, entry: str) -> str:
        if NOT_FOUND in entry:
            return entry
        if APPROVAL_CLAIM.search(entry):
            return self._approval(entry)
        if ASK_CLAIM.search(entry) and not words_of(entry).startswith(UNVERIFIED):
            quotes = _quotations(entry)
            misquoted = quotes and not all(map(self._said.holds, quotes))
            if misquoted or self._said.overlap(entry) < _LIKELY:
                return self._marked(entry)
        return entry

    def _approval(self, entry: str) -> str:
        if self._heard.quotes(entry) or self._said.overlap(entry) >= _TRACED:
            return entry
        if self._heard.consented:
            # A bare "yes" was said to something; nobody can tell from here to what.
            return self._marked(entry)
        self._warn("removed an approval that no user gave", entry)
        return ""

    def _marked(self, entry: str) -> str:
        self._warn("marked what no user said", entry)
        return f"{entry} {NOT_FOUND}"

    def _warn(self, change: str, entry: str) -> None:
        self.warnings.append(f"{change}: {flat(entry, 120)}")


def _quotations(entry: str) -> list[str]:
    found = _QUOTED.findall(entry)
    return ["".join(groups) for groups in found]
