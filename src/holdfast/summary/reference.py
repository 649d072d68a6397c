"""A summary that is not known to be ours: reference of unknown authorship.

Anybody can write one, also a model or whoever wrote what a tool printed. What it tells of work and
facts is carried over. What it puts into a user's mouth, a goal or an approval, counts only where
the user's own words are there to show it; the rest says where it comes from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.summary.checkpoint import Checkpoint, read_checkpoint
from holdfast.summary.cues import APPROVAL_CLAIM, ASK_CLAIM
from holdfast.summary.provenance import UNVERIFIED, Heard
from holdfast.summary.record import Record, number_of, words_of
from holdfast.summary.standing import BEGUN
from holdfast.summary.story import USER

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["joined", "referred", "unverified_in", "words_in"]

_VOICED = {"task": "task", "goal": "goal", "constraints": "rule", "pending": "open ask"}
"""The sections that speak for the user, and what their entries are called elsewhere."""


def words_in(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return what users said according to a summary of ours."""
    record = checkpoint.record
    kept = (*record.constraints, *record.goal, *record.pending, *record.task)
    return (*checkpoint.lasting, *checkpoint.said, *kept)


def unverified_in(record: Record) -> tuple[str, ...]:
    """Return what a record tells as the claims of a summary of unknown authorship."""
    lines = (
        line.strip().removeprefix("- ")
        for _, entries in record.sections()
        for entry in entries
        for line in words_of(entry).split("\n")
    )
    return tuple(
        line.removeprefix(f"{UNVERIFIED}: ") for line in lines if line.startswith(UNVERIFIED)
    )


def referred(text: str, origin: str, heard: Heard, claims: Sequence[str] = ()) -> Checkpoint:
    """Return what a summary says, with nothing in it as a user's that no user is heard to say.

    Args:
        text: The summary.
        origin: Who is said to have written it.
        heard: What users said where that is known.
        claims: What it says beside the record in the user's name.
    """
    found = read_checkpoint(text, origin)
    kept: dict[str, list[str]] = {}
    moved: dict[str, str] = {}
    for name, entries in found.record.sections():
        kept[name] = []
        for entry in entries:
            is_voiced = name in _VOICED or entry.startswith(BEGUN)
            if not is_voiced:
                kept[name].append(_without_claims(entry, heard))
            elif heard.quotes(entry.removeprefix(BEGUN)):
                kept[name].append(entry)
            else:
                words = entry.removeprefix(BEGUN).strip('"')
                moved.setdefault(words, f"{_VOICED.get(name, 'open ask')}: {words}")
    for words in (*claims, *found.lasting, *found.said):
        if not heard.quotes(words):
            moved.setdefault(words, words)
    # Approvals that no user gave are told nowhere.
    told = [_unverified(each) for each in moved.values() if not APPROVAL_CLAIM.search(each)]
    kept["critical"] += told
    record = Record(**{name: tuple(entries) for name, entries in kept.items()})
    return Checkpoint(record, found.evidence, live=found.live)


def joined(first: Checkpoint | None, other: Checkpoint) -> Checkpoint:
    """Return what both say; how things stand is known from the first where it says so."""
    if first is None:
        return other
    known = {words_of(entry) for _, entries in first.record.sections() for entry in entries}
    sections = {
        name: (
            *getattr(first.record, name),
            *(entry for entry in entries if words_of(entry) not in known),
        )
        for name, entries in other.record.sections()
    }
    sections["state"] = (*other.record.state, *first.record.state)
    evidence = dict.fromkeys((*first.evidence.split("\n"), *other.evidence.split("\n")))
    return replace(
        first,
        record=Record(**sections),
        evidence="\n".join(line for line in evidence if line),
        live=first.live or other.live,
    )


def _without_claims(entry: str, heard: Heard) -> str:
    """Return an entry without approvals, and with what it says of the user marked as unverified."""
    number = f"{number_of(entry)}. " if number_of(entry) else ""
    lines = (_claim(line, heard) for line in words_of(entry).split("\n"))
    told = "\n".join(line for line in lines if line is not None)
    return f"{number}{told}" if told.strip() else ""


def _claim(line: str, heard: Heard) -> str | None:
    text = line.strip()
    words = text.removeprefix(f"{USER}: ")
    if not text or heard.quotes(words):
        return line
    if APPROVAL_CLAIM.search(text):
        return None
    if words != text:
        return _unverified(words.strip('"'))
    return _unverified(text) if ASK_CLAIM.search(text) else line


def _unverified(words: str) -> str:
    """Return words in one line, which says of itself that nobody knows who wrote it."""
    return f"{UNVERIFIED}: {' '.join(words.split()).removeprefix(f'{UNVERIFIED}: ')}"
