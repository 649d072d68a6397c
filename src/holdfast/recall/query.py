"""What a person typed, as a tree of what must be found; any text at all is a query.

They count only where a query has other words: `to be or not to be` is still searched as it is.

`AND`, `OR`, `NOT` in capitals, `"a phrase"`, `prefix*`, `-word` and parentheses are operators.
An operator that has nothing to join is no operator, a quote without its other half is no quote,
and all other punctuation separates words, as it does in the index.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from holdfast.recall.folding import has_pairs, query_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# ruff: noqa: RUF001 - Russian words are not misspelled Latin ones


_ENGLISH = """
a about all also am an and any are as at be been being but by can could did do does doing don for
from had has have having he her hers him his how i if in into is it its let ll may me might mine
must my of on or our ours s shall she should so some such t than that the their them then there
these they this those to us ve was we were what when where which who whom whose why will with
would you your yours re d m ever
"""
_GERMAN = """
aber als am an auch auf aus bei bin bist da das dass dein dem den der des die dir du ein eine
einem einen einer er es euch für habe haben hast hat hatte ich ihr im in ist kann man mein mich
mir mit nach nicht noch oder schon sein sich sie sind so um und uns unser von vor war waren was
welche welchen welcher welches wann warum wem wen wer wie wir wird wo wurde zu zum zur über
"""
_FRENCH = """
à au aux avec ce ces cette dans de des du elle en est et eu il ils je la le les leur lui ma mais
me mes moi mon ne nous on ou où par pas pour quand que quel quelle quels qui quoi sa se ses son
sont sur ta te tes toi ton tu un une vos votre vous y été était comment pourquoi d l j qu c n
"""
_SPANISH = """
a al como con cuando cuál cuándo cómo de del dónde el ella en era es esta este está fue ha han
hay la las le lo los me mi mis no nos o para pero por qué que quién se ser si sin sobre son su sus
te tu tus un una y ya
"""
_RUSSIAN = """
а без бы был была были было быть в вам вас вы где да для до его ее её если есть ещё же за и из или
им их к как какая какие какой когда кто ли мне мой моя мы на над нас не него нее нет ни но о об он
она они от по под почему при с со так там то ты у уже чем что чтобы это я
"""

_FILLERS = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_RUSSIAN}".split())


def is_filler(word: str) -> bool:
    """Say whether a word says next to nothing about what is looked for."""
    return word.lower() in _FILLERS


_LONGEST_QUERY = 4_000
_MOST_TERMS = 48
_DEEPEST = 24
_SENTENCE = 4
"""Words from which words without operators are taken for a sentence."""
_QUESTION = 3
"""Words from which they are, when a question mark follows."""

_LEXEME = re.compile(
    r"""
    "(?P<quoted>[^"]*)"(?P<open>\*?)
    | (?P<bracket>[()])
    | (?P<chunk>[^\s()"]+(?:\([^\s()"]*\)[^\s()"]*)*)
    """,
    re.VERBOSE,
)
_CURLY = str.maketrans(dict.fromkeys("“”„‟«»\uff02", '"'))
_OPERATORS = frozenset({"AND", "OR", "NOT"})


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to be found: a word, words joined by punctuation, a phrase, or a prefix."""

    text: str
    """As it was typed."""
    words: tuple[str, ...]
    """The index words it is made of, in order."""
    is_prefix: bool = False
    is_quoted: bool = False

    @property
    def is_filler(self) -> bool:
        """Say whether the term is a word that stands in every sentence."""
        return not self.is_quoted and not self.is_prefix and all(map(is_filler, self.words))


@dataclass(frozen=True, slots=True)
class All:
    """Every part must be found."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One part must be found."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """The first must be found, and the second must not."""

    wanted: Node
    unwanted: Node


Node: TypeAlias = Term | All | Either | Without


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was read."""

    text: str
    tree: Node | None
    """What must be found; None when nothing can be."""
    terms: tuple[Term, ...]
    """What is looked for, in order, each once; what is excluded is not among them."""
    is_plain: bool
    """Whether it is words without operators, which may be widened when they find too little."""
    problem: str = ""
    """Why the query can find nothing, as a sentence; empty when it can."""

    @property
    def telling(self) -> tuple[Term, ...]:
        """Return the terms without the words that stand in every sentence, if others are left."""
        if not self.is_plain:
            return self.terms
        return tuple(term for term in self.terms if not term.is_filler) or self.terms

    @property
    def is_divisible(self) -> bool:
        """Say whether a part of what is asked for is worth finding when the whole is not there."""
        pieces = sum(len(term.words) if has_pairs(term.text) else 1 for term in self.telling)
        loose = any(not term.is_quoted for term in self.telling)
        return self.is_plain and loose and (pieces > 1 or self.is_prose)

    @property
    def is_prose(self) -> bool:
        """Say whether it reads like a sentence, which no message repeats word for word."""
        if not self.is_plain or any(term.is_quoted or term.is_prefix for term in self.terms):
            return False
        if any(len(term.words) >= _SENTENCE and has_pairs(term.text) for term in self.terms):
            return True
        asks = self.text.rstrip().endswith(("?", "\uff1f"))
        return len(self.terms) >= (_QUESTION if asks else _SENTENCE)


@dataclass(frozen=True, slots=True)
class _Sign:
    """An operator or a bracket, as it was typed."""

    text: str


def parse(text: str) -> Query:
    """Read a query; never fails."""
    lexemes = tuple(_lexemes(text[:_LONGEST_QUERY].translate(_CURLY)))
    kept = _without_loose_operators(lexemes[: _MOST_TERMS * 2])
    tree = _either(list(kept), 0) if kept else None
    terms = tuple(dict.fromkeys(_leaves(tree)))[:_MOST_TERMS] if tree else ()
    has_signs = any(isinstance(each, _Sign) for each in kept)
    if tree:
        problem = ""
    elif not text.strip():
        problem = "The query is empty."
    elif any(isinstance(each, Term) for each in lexemes):
        problem = "The query only says what to leave out: add a word that must be found."
    else:
        problem = "The query has no letter and no digit, so that nothing can match it."
    return Query(text, tree, terms, not has_signs, problem)


def _lexemes(typed: str) -> Iterator[Term | _Sign]:
    for match in _LEXEME.finditer(typed):
        quoted, bracket, chunk = match["quoted"], match["bracket"], match["chunk"]
        if bracket:
            yield _Sign(bracket)
        elif quoted is not None:
            if words := query_words(quoted):
                yield Term(quoted, words, _is_open(words, match["open"]), is_quoted=True)
        elif chunk in _OPERATORS:
            yield _Sign(chunk)
        else:
            excluded = chunk[0] == "-" and chunk[1:2].isalnum()
            text = chunk[1:] if excluded else chunk
            if words := query_words(text):
                if excluded:
                    yield _Sign("NOT")
                star = "*" if text.endswith("*") and text[-2:-1].isalnum() else ""
                yield Term(text.removesuffix(star), words, _is_open(words, star))


def _is_open(words: Sequence[str], star: str) -> bool:
    """Say whether the last word may go on; one Latin letter may not: half of all words would."""
    return bool(star) and (len(words) > 1 or len(words[0]) > 1 or not words[0].isascii())


def _without_loose_operators(lexemes: Sequence[Term | _Sign]) -> tuple[Term | _Sign, ...]:
    """Leave out brackets without a partner and operators with nothing to join."""
    opened: list[int] = []
    loose: set[int] = set()
    for index, each in enumerate(lexemes):
        if each == _Sign("("):
            opened.append(index)
            if len(opened) > _DEEPEST:
                loose.add(index)
        elif each == _Sign(")") and (not opened or opened.pop() in loose):
            loose.add(index)
    loose.update(opened)
    kept = [each for index, each in enumerate(lexemes) if index not in loose]
    if not any(isinstance(each, Term) for each in kept):
        return tuple(
            Term(each.text, (each.text.lower(),))
            for each in kept
            if isinstance(each, _Sign) and each.text in _OPERATORS
        )
    return tuple(kept)


def _either(waiting: list[Term | _Sign], depth: int) -> Node | None:
    """Read branches joined by OR, up to the closing bracket."""
    branches = [_all(waiting, depth)]
    while waiting and waiting[0] == _Sign("OR"):
        waiting.pop(0)
        branches.append(_all(waiting, depth))
    if depth and waiting:
        waiting.pop(0)
    found = tuple(branch for branch in branches if branch is not None)
    return Either(found) if len(found) > 1 else next(iter(found), None)


def _all(waiting: list[Term | _Sign], depth: int) -> Node | None:
    """Read what stands side by side; what follows NOT is taken away from the rest."""
    wanted: list[Node] = []
    unwanted: list[Node] = []
    negated = False
    while waiting and waiting[0] not in (_Sign("OR"), _Sign(")")):
        each = waiting.pop(0)
        if isinstance(each, _Sign) and each.text != "(":
            negated = each.text == "NOT"
            continue
        node = each if isinstance(each, Term) else _either(waiting, depth + 1)
        if node is not None:
            (unwanted if negated else wanted).append(node)
        negated = False
    if not wanted:
        return None
    found = wanted[0] if len(wanted) == 1 else All(tuple(wanted))
    if not unwanted:
        return found
    return Without(found, unwanted[0] if len(unwanted) == 1 else Either(tuple(unwanted)))


def _leaves(node: Node) -> Iterator[Term]:
    match node:
        case Term():
            yield node
        case All(parts) | Either(parts):
            for part in parts:
                yield from _leaves(part)
        case Without(wanted):
            yield from _leaves(wanted)
        case _:
            assert_never(node)
