"""Conversations in the shape of LoCoMo, read into turns and questions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"
_CATEGORIES = {1: "multi", 2: "temporal", 3: "open", 4: "single", 5: "adversarial"}
"""What LoCoMo's numbers stand for."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the turns that answer it."""

    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sample:
    """One conversation: its sessions with their times in milliseconds, and its questions."""

    name: str
    language: str
    speakers: tuple[str, str]
    sessions: tuple[tuple[int, tuple[Turn, ...]], ...]
    questions: tuple[Question, ...]


def read(path: Path) -> tuple[Sample, ...]:
    """Read a file; questions without evidence are left out, as nothing could be found for them."""
    written = json.loads(path.read_text("utf-8"))
    samples = written if isinstance(written, list) else [written]
    return tuple(_sample(each, f"{path.stem}-{index}") for index, each in enumerate(samples))


def _sample(written: dict[str, Any], name: str) -> Sample:
    conversation = written["conversation"]
    sessions = tuple(_sessions(conversation))
    known = {turn.id for _, turns in sessions for turn in turns}
    return Sample(
        written.get("sample_id", name),
        written.get("language", "en"),
        (conversation["speaker_a"], conversation["speaker_b"]),
        sessions,
        tuple(_questions(written["qa"], known)),
    )


def _sessions(conversation: dict[str, Any]) -> Iterator[tuple[int, tuple[Turn, ...]]]:
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        at = _moment(conversation.get(f"session_{number}_date_time", ""))
        turns = conversation[f"session_{number}"]
        yield at, tuple(Turn(each["dia_id"], each["speaker"], _text(each)) for each in turns)


def _text(turn: dict[str, Any]) -> str:
    """Return a turn as an agent would log it: who said what, and what a picture shows."""
    caption = turn.get("blip_caption")
    shown = f" [shares a picture: {caption}]" if caption else ""
    return f"{turn['speaker']}: {turn.get('text', '')}{shown}"


def _moment(text: str) -> int:
    try:
        moment = datetime.strptime(text.strip(), _DATE).replace(tzinfo=UTC)
    except ValueError:
        return 0
    return int(moment.timestamp() * 1000)


def _questions(written: list[dict[str, Any]], known: set[str]) -> Iterator[Question]:
    for each in written:
        named = _EVIDENCE.findall(" ".join(each.get("evidence", ())))
        evidence = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in named) & known
        category = each.get("category", "other")
        if evidence:
            yield Question(each["question"], _CATEGORIES.get(category, str(category)), evidence)
