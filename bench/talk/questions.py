"""What is asked about a conversation, and when the evidence for an answer still stands.

A question has two sets of words. The words of its answer must all stand in one stretch of 400
characters of the window, and with them half of the words that say what it is about: a name without
its sentence answers nothing, a sentence that was shortened may still answer. Endings of words and
the commonest words do not count. Questions come from three sources.

*Asked, with an answer* (LongMemEval): among up to three sentences in a row of a session that holds
the answer, those are the evidence that share most words with the answer, then with the question,
and are shortest. The words that they share with the answer are the answer; those that they share
with the question say what it is about. A question is left out where they have less than half of
the answer's words: such an answer was concluded, not said.

*Asked, without an answer* (MemoryBank): the exchange is looked for that shares the rarest words
with the question, on the day that the question names, if it names one. Of that exchange and the
next, the sentence is the evidence that has most of those words and a name or a number, of the
assistant where the question is about what it said, else of the user. Its names and numbers that
the question does not have are the answer, or where it has none its three rarest words; the rest of
it says what it is about. A question is left out where it shares too little with any exchange.

*Masked* (both): a sentence in which the user says something about themselves and names a name, a
number or a date. The rarest name is held out and is the answer, the rest is the question.

The weakness of all this: words are not meaning. A window that says the same in other words counts
as if it had lost it, and one that has the sentence without what explains it counts as if it
answered. Where a question came without an answer, the sentence found is about one time in four not
the one that its author meant, judged by eye. Masked questions are about users' own words alone,
which favors a policy that keeps users' words.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections import Counter
from dataclasses import dataclass
from math import fsum, log
from typing import TYPE_CHECKING

from bench.talk.words import content, names, sentences
from bench.windows import stand_together

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SPAN = 400
TOPIC = 0.5
"""The part of a question's words that must stand with the answer."""
COVERED = 0.5
"""The part of an answer's words that must stand in its evidence."""
TOGETHER = 3
RAREST = 3
NAMED = 2
"""What a name or a number in a sentence counts beside the rarity of a question's words."""
FEWEST = 3
"""Words a masked sentence has beside its name: with fewer it is about nothing."""
SELF = re.compile(r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur|me)\b")
ASSISTANT = re.compile(
    r"\byou(?: once| have|'ve)* (?:recommend|shar|t[eo]ll?d?\b|taught|teach|g[ai]ve|suggest)"
)
MONTHS = {name: number for number, name in enumerate(month_name) if name}
DAY = re.compile(rf"\b({'|'.join(MONTHS)}) (\d{{1,2}})[a-z]{{2}}\b")
# Questions speak of speaking; these words point at no exchange.
OF_QUESTIONS = content(
    """
    advice ago content day days discuss experience give good kind main mention name names
    question recommend recommendation remember right share specific suggestion talk tell told topic
    type what's april may method
    """
)


@dataclass(frozen=True, slots=True)
class Question:
    """The words that an answer consists of, and the words that say what it answers."""

    kind: str
    """`asked` where somebody wrote the question, `masked` where it was made from a sentence."""
    answer: frozenset[str]
    topic: frozenset[str]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a user said, and the answer, on a day."""

    day: str
    user: str
    assistant: str


def stands(question: Question, places: Mapping[str, Sequence[int]]) -> bool:
    """Say whether the evidence stands in a window, given where the window has which words."""
    return stand_together(
        [places.get(word, ()) for word in question.answer],
        SPAN,
        [places.get(word, ()) for word in question.topic],
        len(question.topic) * TOPIC,
    )


def answered(question: str, answer: str, turns: Iterable[str]) -> Question | None:
    """Return the question with the evidence for its answer, if some turn says it."""
    wanted, topic = content(answer) - content(question), content(question)
    best, best_score = Question("asked", frozenset(), frozenset()), (0.0, 0.0, 0)
    for passage in (each for turn in turns for each in _passages(turn)):
        words = content(passage)
        found = Question("asked", wanted & words, topic & words)
        score = (len(found.answer) / max(len(wanted), 1), len(found.topic), -len(passage))
        if score > best_score:
            best, best_score = found, score
    return best if best_score[0] >= COVERED and best.topic else None


def probed(question: str, exchanges: Sequence[Exchange]) -> Question | None:
    """Return the question with the evidence that its own words lead to, if they lead anywhere."""
    topic = content(question) - OF_QUESTIONS
    rarity = _rarity([content(f"{each.user}\n{each.assistant}") for each in exchanges])
    day = DAY.search(question)
    on_day = f"-{MONTHS[day[1]]:02}-{int(day[2]):02}" if day else ""
    best, best_score = -1, 0.0
    for at, exchange in enumerate(exchanges):
        shared = topic & content(f"{exchange.user}\n{exchange.assistant}")
        score = fsum(rarity[word] for word in shared)
        if score > best_score and exchange.day.endswith(on_day) and len(shared) > (not on_day):
            best, best_score = at, score
    turns = [
        each.assistant if ASSISTANT.search(question) else each.user
        for each in exchanges[best : best + 2]
        if best >= 0 and each.day == exchanges[best].day
    ]
    found = [each for turn in turns for each in _told(topic, turn, rarity)]
    return max(found, key=lambda each: each[0], default=(0, None))[1]


def masked(turn: str, common: Mapping[str, int]) -> Iterable[Question]:
    """Yield a question for each sentence of a user's turn that tells something of themselves.

    `common` says how often each word occurs in the conversation: the rarest name is held out.
    """
    for sentence in sentences(turn):
        words = content(sentence)
        found = [held for name in names(sentence) if (held := content(name)) and held <= words]
        if not found or sentence.endswith("?") or len(sentence) > SPAN:
            continue
        answer = min(found, key=lambda held: min(common.get(word, 0) for word in held))
        if SELF.search(sentence) and len(words - answer) >= FEWEST:
            yield Question("masked", answer, words - answer)


def _told(
    topic: frozenset[str], turn: str, rarity: Mapping[str, float]
) -> Iterable[tuple[float, Question]]:
    """Yield the sentences of a turn that may tell what is asked, each with how much it does."""
    for sentence in sentences(turn):
        words = content(sentence)
        told = frozenset(word for name in names(sentence) for word in content(name))
        told = (told & words) - topic
        rest = sorted(words - topic, key=lambda word: (-rarity.get(word, 0), word))
        answer = told or frozenset(rest[:RAREST])
        score = fsum(rarity.get(word, 0) for word in words & topic) + NAMED * bool(told)
        about = bool(told) or len(words & topic) > 1
        enough = answer and len(words - answer) > 1
        if about and enough and len(sentence) <= SPAN and not sentence.endswith("?"):
            yield score, Question("asked", answer, words - answer)


def _passages(turn: str) -> Iterable[str]:
    parts = sentences(turn)
    for at in range(len(parts)):
        for count in range(1, TOGETHER + 1):
            passage = "\n".join(parts[at : at + count])
            if len(passage) <= SPAN and at + count <= len(parts):
                yield passage


def _rarity(texts: Sequence[frozenset[str]]) -> dict[str, float]:
    counts = Counter(word for text in texts for word in text)
    return {word: log(1 + len(texts) / count) for word, count in counts.items()}
