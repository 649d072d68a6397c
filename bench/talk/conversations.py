"""Conversations without tools, read from the folder of real material, and what is asked of each.

LongMemEval hides sessions that hold answers among many that do not. Its haystacks are cut into
conversations of about 18,000 tokens, three times: each time a third of a conversation later, so
that a question is asked with its evidence at three distances from the end. A session as long as
half a conversation is a document that somebody pasted, and is left out. MemoryBank has one
conversation of ten days for each person. Both say when something was said; the first message of a
session or day carries it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.report import shared
from bench.talk.questions import Exchange, answered, masked, probed
from bench.talk.words import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from bench.talk.questions import Question

LONG_MEMORY = "LongMemEval"
MEMORY_BANK = "MemoryBank"
LENGTH = 72_000
"""Characters of a conversation: about 18,000 tokens."""
STARTS = (0, LENGTH // 3, 2 * LENGTH // 3)
DOCUMENT = LENGTH // 2


@dataclass(frozen=True, slots=True)
class Conversation:
    """OpenAI chat messages, and the questions whose evidence they hold."""

    source: str
    messages: list[dict[str, object]]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """What was said at one time, by role and words, and what somebody asked about it."""

    date: str
    turns: tuple[tuple[str, str], ...]
    asked: tuple[Question, ...] = ()

    @property
    def length(self) -> int:
        """Return how many characters were said."""
        return sum(len(words) for _, words in self.turns)


def conversations() -> tuple[Conversation, ...]:
    """Return every conversation, none where the folder of real material is missing."""
    folder = shared()
    if folder is None:
        return ()
    bench = folder / "data" / "bench"
    return (
        *_long_memory(sorted((bench / "longmemeval").glob("*.json"))),
        *_memory_bank(bench / "memorybank"),
    )


def joined(source: str, sessions: Sequence[Session], asked: Iterable[Question]) -> Conversation:
    """Return the sessions as one conversation, with masked questions added to those asked."""
    turns = [turn for session in sessions for turn in session.turns]
    common = Counter(word for _, words in turns for word in stems(words))
    made = (each for role, words in turns if role == "user" for each in masked(words, common))
    messages: list[dict[str, object]] = [
        {"role": role, "content": words if number else f"[{session.date}] {words}"}
        for session in sessions
        for number, (role, words) in enumerate(session.turns)
    ]
    return Conversation(source, messages, (*asked, *made))


def _long_memory(paths: Iterable[Path]) -> Iterator[Conversation]:
    for haystack in (each for path in paths for each in json.loads(path.read_text("utf-8"))):
        sessions = [each for each in _sessions(haystack) if each.length < DOCUMENT]
        for start in STARTS:
            for held in cut(sessions, start):
                asked = [question for session in held for question in session.asked]
                yield joined(LONG_MEMORY, held, asked)


def cut(sessions: Iterable[Session], start: int) -> Iterator[list[Session]]:
    """Yield sessions in groups of the length of a conversation, from `start` characters on.

    What is left at the end is too short, and is left out.
    """
    held: list[Session] = []
    passed = 0
    for session in sessions:
        passed += session.length
        if passed <= start:
            continue
        held.append(session)
        if sum(each.length for each in held) >= LENGTH:
            yield held
            held = []


def _sessions(haystack: dict[str, Any]) -> Iterator[Session]:
    ids: list[str] = haystack["haystack_session_ids"]
    turns = {
        id_: tuple((turn["role"], turn["content"]) for turn in said)
        for id_, said in zip(ids, haystack["haystack_sessions"], strict=True)
    }
    asked: dict[str, list[Question]] = {id_: [] for id_ in ids}
    fields = ("questions", "answers", "answer_session_ids")
    for question, answer, held_by in zip(*(haystack[field] for field in fields), strict=True):
        for id_ in held_by:
            found = answered(question, str(answer), [words for _, words in turns[id_]])
            asked[id_] += [found] if found else []
    for id_, date in zip(ids, haystack["haystack_dates"], strict=True):
        yield Session(date, turns[id_], tuple(asked[id_]))


def _memory_bank(folder: Path) -> Iterator[Conversation]:
    people, probes = folder / "memory_bank_en.json", folder / "probing_questions_en.jsonl"
    if not people.is_file() or not probes.is_file():
        return
    lines = probes.read_text("utf-8").splitlines()
    asked = {name.strip(): each for line in lines for name, each in json.loads(line).items()}
    for name, person in json.loads(people.read_text("utf-8")).items():
        days: dict[str, list[Exchange]] = {
            day: [Exchange(day, each["query"], each["response"]) for each in said]
            for day, said in person["history"].items()
        }
        exchanges = [each for said in days.values() for each in said]
        found = [probed(question, exchanges) for question in asked.get(name.strip(), ())]
        sessions = [Session(day, _turns(said)) for day, said in days.items()]
        yield joined(MEMORY_BANK, sessions, [each for each in found if each])


def _turns(exchanges: Iterable[Exchange]) -> tuple[tuple[str, str], ...]:
    pairs = ((("user", each.user), ("assistant", each.assistant)) for each in exchanges)
    return tuple(turn for pair in pairs for turn in pair)
