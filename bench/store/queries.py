"""What people look for, by kind, in what was really said."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.project import Dice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.store.corpus import Corpus

EACH = 12
"""Questions of a kind."""
_ADDRESS = re.compile(r"[\w.]+@example\.org")
_COMMIT = re.compile(r"\b[0-9a-f]{12}\b")
_WORDS = re.compile(r"[a-z]{3,} [a-z]{3,} [a-z]{3,}")


@dataclass(frozen=True, slots=True)
class Question:
    """One search."""

    kind: str
    text: str
    role: str = ""
    source: str = ""


def questions(corpus: Corpus, samples: Sequence[str], seed: int = 5) -> list[Question]:
    """Return the questions in an order that mixes the kinds."""
    dice = Dice(seed)
    said = "\n".join(samples)
    makers = _words(corpus, dice) | _names(corpus, dice, said) | _scripts(corpus, dice)
    asked = [Question(kind, make()) for kind, make in makers.items() for _ in range(EACH)]
    words = corpus.english.words
    for number in range(EACH):
        role, source = ("user", "") if number % 2 else ("", "cli")
        asked.append(Question("role or source", words[60 + dice.below(2_000)], role, source))
    dice.shuffle(asked)
    return asked


def _words(corpus: Corpus, dice: Dice) -> dict[str, Callable[[], str]]:
    words = corpus.english.words

    def ranked(first: int, last: int) -> str:
        return words[first + dice.below(last - first)]

    return {
        "rare word": lambda: ranked(15_000, 45_000),
        "common word": lambda: ranked(45, 160),
        "two words": lambda: f"{ranked(60, 500)} {ranked(500, 4_000)}",
        "question": lambda: (
            f"why does the {ranked(60, 300)} {ranked(200, 500)} after the {ranked(300, 3_000)}?"
        ),
        "prefix": lambda: f"{ranked(2_000, 20_000)[:6]}*",
        "OR": lambda: f"{ranked(500, 3_000)} OR {ranked(60, 3_000)}",
        "NOT": lambda: f"{ranked(60, 500)} NOT {ranked(60, 500)}",
    }


def _names(corpus: Corpus, dice: Dice, said: str) -> dict[str, Callable[[], str]]:
    names = corpus.names
    phrases, addresses, commits = (found.findall(said) for found in (_WORDS, _ADDRESS, _COMMIT))
    makers: dict[str, Callable[[], str]] = {
        "phrase": lambda: f'"{dice.any(phrases)}"',
        "path": lambda: dice.pick(names.paths),
        "identifier": lambda: dice.pick(names.functions),
        "part of a word": lambda: dice.pick(names.functions)[2:-2],
    }
    if addresses and commits:
        makers["email address"] = lambda: dice.any(addresses)
        makers["hexadecimal id"] = lambda: dice.any(commits)
    return makers


def _scripts(corpus: Corpus, dice: Dice) -> dict[str, Callable[[], str]]:
    def word(language: str, length: int, ending: int = 0) -> str:
        """Return a word of a length, without the particle at its end."""
        stock = corpus.foreign[language].words[:1_500]
        fitting = [each for each in stock if len(each) == length + ending]
        return dice.pick(fitting)[:length]

    return {
        "Chinese, 1 character": lambda: word("chinese", 1),
        "Chinese, 2 characters": lambda: word("chinese", 2),
        "Chinese, 3 characters": lambda: word("chinese", 3),
        "Japanese": lambda: word("japanese", 2, 1),
        "Korean": lambda: word("korean", 2, 1),
        "Russian": lambda: dice.pick(corpus.foreign["russian"].words[:1_500]),
        "German without accents": lambda: _bare(dice.pick(corpus.foreign["german"].words[:1_500])),
    }


def _bare(text: str) -> str:
    parts = unicodedata.normalize("NFD", text)
    return "".join(each for each in parts if not unicodedata.combining(each))
