"""A summary that is not known to be ours: reference of unknown authorship.

Anybody can write one, also a model or whoever wrote what a tool printed. What it tells of work and
facts is carried over. What it puts into a user's mouth, a goal or an approval, counts only where
the user's own words are there to show it; the rest says where it comes from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.summary.checkpoint import Checkpoint, read_checkpoint
from holdfast.summary.claims import claim_in, sentences_of
from holdfast.summary.provenance import NOT_FOUND, UNVERIFIED, Heard, unverified
from holdfast.summary.record import Record, number_of, words_of
from holdfast.summary.standing import BEGUN
from holdfast.summary.story import SPEAKERS, USER
from holdfast.summary.tracing import is_weighty_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_VOICED = {"task": "task", "goal": "goal", "constraints": "rule", "pending": "open ask"}
"""The sections that speak for the user, and what their entries are called elsewhere."""


def words_in(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return what users said according to a summary of ours.

    What it says of them unmarked was found in their words when it was written.
    """
    record = checkpoint.record
    words = [*checkpoint.lasting, *checkpoint.said]
    for line in map(str.strip, _lines(record)):
        if line.startswith(f"{USER}: "):
            words.append(line.removeprefix(f"{USER}: "))
        elif not line.startswith(tuple(f"{each}: " for each in SPEAKERS)) and claim_in(line):
            # What others are quoted with is their own.
            words.append(line)
    words += [*record.constraints, *record.goal, *record.pending, *record.task]
    return tuple(each for each in words if UNVERIFIED not in each and NOT_FOUND not in each)


def _lines(record: Record) -> list[str]:
    told = (words_of(entry) for _, entries in record.sections() for entry in entries)
    return [line for words in told for line in words.split("\n")]


def unverified_in(record: Record) -> tuple[str, ...]:
    """Return what a record tells as the claims of a summary of unknown authorship."""
    lines = (line.strip().removeprefix("- ") for line in _lines(record))
    return tuple(
        line.removeprefix(f"{UNVERIFIED}: ") for line in lines if line.startswith(UNVERIFIED)
    )


def referred(
    text: str, origin: str, heard: Heard, claims: Sequence[str] = (), *, opens: bool = False
) -> Checkpoint:
    """Return what a summary says, with nothing in it as a user's that no user is heard to say.

    Args:
        text: The summary.
        origin: Who is said to have written it.
        heard: What users said where that is known.
        claims: What it says beside the record in the user's name.
        opens: Whether the conversation begins with it, so that no user could say the goal.
    """
    found = read_checkpoint(text, origin)
    kept: dict[str, list[str]] = {}
    moved: dict[str, str] = {}
    for name, entries in found.record.sections():
        kept[name] = []
        for entry in entries:
            bare = entry.removeprefix(BEGUN)
            if name not in _VOICED and bare == entry:
                kept[name].append(_without_claims(entry, heard))
            elif heard.quotes(bare):
                kept[name].append(entry)
            elif name == "goal" and opens and not is_weighty_order(entry):
                # What is wanted is told also where nobody knows who said so.
                kept[name] += _unapproved([entry], heard)
            else:
                words = bare.strip('"')
                moved.setdefault(words, f"{_VOICED.get(name, 'open ask')}: {words}")
    for words in (*claims, *found.lasting, *found.said):
        if not heard.quotes(words):
            moved.setdefault(words, words)
    kept["critical"] += _unapproved(moved.values(), heard)
    record = Record(**{name: tuple(entries) for name, entries in kept.items()})
    return Checkpoint(record, found.evidence, live=found.live)


def joined(first: Checkpoint | None, other: Checkpoint) -> Checkpoint:
    """Return what both say; how things stand is known from the first where it says so."""
    if first is None:
        return other
    known = {words_of(entry) for _, entries in first.record.sections() for entry in entries}
    sections = {
        name: (*own, *(each for each in getattr(other.record, name) if words_of(each) not in known))
        for name, own in first.record.sections()
    }
    sections["state"] = (*other.record.state, *first.record.state)
    evidence = dict.fromkeys(f"{first.evidence}\n{other.evidence}".split("\n"))
    return replace(
        first,
        record=Record(**sections),
        evidence="\n".join(filter(None, evidence)),
        live=first.live or other.live,
    )


def _unapproved(told: Iterable[str], heard: Heard) -> Iterator[str]:
    """Yield what is told as unverified, without approvals that no user gave."""
    for each in told:
        if kept := "".join(one for one in sentences_of(each) if _standing(one, heard) is not None):
            yield unverified(kept)


def _standing(sentence: str, heard: Heard) -> bool | None:
    """Say whether a sentence can stand as it is; nothing where it is not to be told at all."""
    claim = claim_in(sentence)
    if claim is None or heard.said.holds(sentence) or heard.supports(sentence, claim):
        return True
    return None if claim.is_approval else False


def _without_claims(entry: str, heard: Heard) -> str:
    """Return an entry without approvals, and with what it says of the user marked as unverified."""
    told: list[str] = []
    for line in words_of(entry).split("\n"):
        words = line.strip().removeprefix(f"{USER}: ")
        found = [(each, _standing(each, heard)) for each in sentences_of(line)]
        kept = "".join(each for each, stands in found if stands is not None)
        if not words or heard.quotes(words):
            told.append(line)
        elif words != line.strip():
            told.append(unverified(words.strip('"')))
        elif kept.strip():
            is_known = all(stands is not False for _, stands in found)
            told.append(kept if is_known else unverified(kept))
    number = f"{number_of(entry)}. " if number_of(entry) else ""
    return number + "\n".join(told) if any(map(str.strip, told)) else ""
