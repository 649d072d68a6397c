"""Words as people use them: a few all the time, most of them seldom, in several languages.

A search engine lives on the tail of rare words, so a lexicon has tens of thousands of them, drawn
by Zipf's law. Frequent words are real ones; the tail is put together from syllables. The same seed
gives the same words on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from bench.project import NOUNS, VERBS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.project import Dice

_FLATTENING = 2.7
_GLUE = """
the to of and a in is it that for on with not this we be as at by from are was but or have if an can
all when so then no which there will has one after before
""".split()
_SYLLABLES = {
    language: tuple(syllables)
    for language, *syllables in map(
        str.split, Path(__file__).with_name("syllables.txt").read_text("utf-8").splitlines()
    )
}
_ENDINGS = ("", "", "", "s", "ed", "ing", "er", "ion", "ly", "able", "ness")
_PARTICLES = {"japanese": "はがをにでともへ", "korean": "은는이가를에도"}
FOREIGN = ("chinese", "japanese", "korean", "german", "russian")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of one language, the frequent ones first, and how a sentence joins them."""

    words: Sequence[str]
    weights: Sequence[float]
    gap: str = " "
    stop: str = "."

    def draw(self, dice: Dice, count: int) -> list[str]:
        """Return so many words, by Zipf's law."""
        return dice.choices(self.words, cum_weights=self.weights, k=count)

    def sentence(self, dice: Dice, count: int) -> str:
        """Return so many words as a sentence."""
        return self.gap.join(self.draw(dice, count)) + self.stop


def english(dice: Dice, size: int = 60_000) -> Lexicon:
    """Return the language that most is said in."""
    return _lexicon([*_GLUE, *NOUNS, *VERBS], lambda: _composed(dice, "english"), size)


def foreign(dice: Dice, language: str, size: int = 8_000) -> Lexicon:
    """Return one of the other languages."""
    if language in _SYLLABLES:
        return _lexicon([], lambda: _composed(dice, language), size)
    first, last, used = _CHARACTERS[language]
    stock = dice.sample(range(first, last), used)
    particles = _PARTICLES.get(language, "")

    def word() -> str:
        text = "".join(chr(dice.pick(stock)) for _ in range(dice.any((1, 2, 2, 2, 2, 3))))
        return text + dice.any(particles) if particles else text

    gap, stop = (" ", ".") if language == "korean" else ("", "。")
    return _lexicon([], word, size, gap, stop)


_CHARACTERS = {
    "chinese": (0x4E00, 0x7A00, 1_400),
    "japanese": (0x4E00, 0x6A00, 700),
    "korean": (0xAC00, 0xC8A0, 500),
}
"""First and last character of a script's stretch, and how many of it are in use."""


def _composed(dice: Dice, language: str) -> str:
    syllables = _SYLLABLES[language]
    text = "".join(dice.any(syllables) for _ in range(2 + dice.below(3)))
    return text + dice.any(_ENDINGS) if language == "english" else text


def _lexicon(
    frequent: Sequence[str], tail: Callable[[], str], size: int, gap: str = " ", stop: str = "."
) -> Lexicon:
    words = dict.fromkeys(frequent)
    while len(words) < size:
        words.setdefault(tail())
    weights = tuple(accumulate(1 / (rank + _FLATTENING) for rank in range(size)))
    return Lexicon(tuple(words), weights, gap, stop)
