"""A stored message as words for a reader, and the few of them that show why it was found.

What a search returned must not be found by the next one: it repeats the words that were asked
for, and would stand above the messages that said them first.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, assert_never

from msgspec.structs import replace

from holdfast.recall.folding import WORD, is_paired, normal, pairs, plain, root_of
from holdfast.session import searchable
from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_user_word,
)
from holdfast.transcript.blocks import words_typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.recall.query import Query, Term
    from holdfast.transcript import Message, Part

DEFAULT_MARKS = (">>>", "<<<")
_LONGEST_READ = 100_000
"""Characters of a message in which matches are looked for."""
_MOST_SPOTS = 400
_SPACE = re.compile(r"\s+")
_LEAN = 4
"""A snippet begins up to a quarter of its width before the first match that it shows."""


class Spot(NamedTuple):
    """A stretch of a text that matched, and the number of the term that it is."""

    start: int
    end: int
    term: int
    is_exact: bool = False
    """Whether the words stand there as they were asked for, and not in another form."""


class _Words:
    """The words of a text by their places, and the places by first letters."""

    def __init__(self, text: str) -> None:
        if text.isascii():
            self._found = list(WORD.finditer(text.lower()))
            self.bare = [each.group() for each in self._found]
        else:
            self._found = list(WORD.finditer(text))
            self.bare = [plain(each.group()) for each in self._found]
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self.bare):
            self._places.setdefault(word[:1], []).append(place)

    def starting(self, letter: str) -> Sequence[int]:
        """Return the places of the words that begin with a letter."""
        return self._places.get(letter, ())

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return where the words from one place to another stand in the text."""
        return self._found[first].start(), self._found[last].end()

    def is_as_long(self, place: int) -> bool:
        """Say whether each character of a word is one of the text."""
        start, end = self._found[place].span()
        return len(self.bare[place]) == end - start


def snippet(
    text: str, query: Query, *, width: int = 160, marks: tuple[str, str] = DEFAULT_MARKS
) -> str:
    """Return the part of a text that holds most of what was asked for, on one line.

    Words are not cut, an ellipsis stands for what is left out, and each match stands between the
    marks. A text without a match, which a neighbor can bring into the results, is shown from its
    beginning.

    Args:
        text: The searchable text of a message.
        query: The query that found it.
        width: Characters to show at most, without marks and ellipses.
        marks: What to put before and after each match.
    """
    # Of a very long text, look where the first match is.
    if len(text) > _LONGEST_READ:
        lowered = text.lower()
        words = (word for term in query.terms for word in term.words)
        found = [place for place in map(lowered.find, words) if place >= 0]
        begin = max(min(found, default=0) - _LONGEST_READ // 2, 0)
        text = text[begin : begin + _LONGEST_READ]
    spots = spots_of(text, query.telling)
    start, end = _frame(text, spots, max(1, width))
    pieces = ["…" if text[:start].strip() else ""]
    at = start
    for spot in _joined(spots):
        if at <= spot.start and spot.end <= end:
            pieces += [text[at : spot.start], marks[0], text[spot.start : spot.end], marks[1]]
            at = spot.end
    pieces += [text[at:end].rstrip(), "…" if text[end:].strip() else ""]
    return _SPACE.sub(" ", "".join(pieces)).strip()


def matches(text: str, query: Query) -> tuple[tuple[int, int], ...]:
    """Return where the words of a query stand in a text, in order, none inside another."""
    return tuple((spot.start, spot.end) for spot in _joined(spots_of(text, query.telling)))


def spots_of(text: str, terms: Sequence[Term]) -> list[Spot]:
    """Return where terms stand in a text, in order; they may overlap."""
    words = _Words(text[:_LONGEST_READ])
    found: list[Spot] = []
    for number, term in enumerate(terms):
        asked = plain(term.text)
        for start, end in islice(_places(words, term), _MOST_SPOTS):
            found.append(Spot(start, end, number, plain(text[start:end]) == asked))
    return sorted(found)


def _places(words: _Words, term: Term) -> Iterable[tuple[int, int]]:
    """Return where a term stands: as the index finds it, else as a part of longer words."""
    wanted = WORD.findall(plain(term.text))
    if len(wanted) == 1 and is_paired(wanted[0]):
        found = list(_within(words, wanted[0]))
        loose = () if found or term.is_quoted else pairs(wanted[0])
        return [*found, *(place for pair in loose for place in _within(words, pair))]
    exact = list(_stretches(words, wanted, is_prefix=term.is_prefix))
    if exact or term.is_quoted:
        return exact
    if len(wanted) == 1:
        if found := list(_within(words, wanted[0])):
            return found
        # Other forms of a word in languages that are not stemmed.
        root = root_of(wanted[0])
        places = words.starting(root[:1]) if root else ()
        return [words.span(place, place) for place in places if words.bare[place].startswith(root)]
    return list(_open_stretches(words, wanted))


def _stretches(
    words: _Words, wanted: Sequence[str], *, is_prefix: bool
) -> Iterator[tuple[int, int]]:
    """Find words that follow each other, in any of their forms."""
    *before, last = [normal(each) for each in wanted]
    # Forms of a word begin alike, and finding the stem of every word of a text takes long.
    for place in words.starting(last[:1]):
        first, bare = place - len(before), words.bare[place]
        if first < 0:
            continue
        is_last = normal(bare) == last or (is_prefix and bare.startswith(wanted[-1]))
        if is_last and [normal(each) for each in words.bare[first:place]] == before:
            yield words.span(first, place)


def _open_stretches(words: _Words, wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Find words that follow each other, the first within the end of one, the last a beginning."""
    for place in words.starting(wanted[-1][:1]):
        first = place - len(wanted) + 1
        if first < 0:
            continue
        if (
            words.bare[first].endswith(wanted[0])
            and words.bare[place].startswith(wanted[-1])
            and words.bare[first + 1 : place] == list(wanted[1:-1])
        ):
            start, after_first = words.span(first, first)
            before_last, end = words.span(place, place)
            if words.is_as_long(first):
                start = after_first - len(wanted[0])
            if words.is_as_long(place):
                end = before_last + len(wanted[-1])
            yield start, end


def _within(words: _Words, wanted: str) -> Iterator[tuple[int, int]]:
    """Find a text inside words; a word whose spelling was folded to another length, as a whole."""
    for place, bare in enumerate(words.bare):
        at = bare.find(wanted)
        while at >= 0:
            start, end = words.span(place, place)
            if words.is_as_long(place):
                yield start + at, start + at + len(wanted)
            else:
                yield start, end
            at = bare.find(wanted, at + len(wanted))


def _frame(text: str, spots: Sequence[Spot], width: int) -> tuple[int, int]:
    """Return the stretch of a text to show: the one with the most different terms.

    Among equals it is the one that has more of them as they were asked for.
    """
    if len(text) <= width:
        return 0, len(text)
    best = max(
        range(len(spots)),
        key=lambda index: (_terms_from(spots, index, width - width // _LEAN), -index),
        default=None,
    )
    first = spots[best].start if best is not None else 0
    start = min(max(0, first - width // _LEAN), len(text) - width)
    end = start + width
    # Both ends go to a gap between words, unless the next one is in the match.
    if start > 0 and not text[start - 1].isspace() and (gap := _SPACE.search(text, start, first)):
        start = gap.end()
    if end < len(text):
        last = spots[best].end if best is not None else start + 1
        at = end
        while at > last and not text[at].isspace():
            at -= 1
        end = at if at > last else end
    return start, end


def _terms_from(spots: Sequence[Spot], index: int, reach: int) -> tuple[int, int]:
    """Return how many terms stand within reach of a spot, and how many as they were asked for."""
    limit = spots[index].start + reach
    terms: set[int] = set()
    exact: set[int] = set()
    for spot in spots[index:]:
        if spot.end > limit:
            break
        terms.add(spot.term)
        if spot.is_exact:
            exact.add(spot.term)
    return len(terms), len(exact)


def _joined(spots: Iterable[Spot]) -> list[Spot]:
    """Merge matches that overlap or touch."""
    joined: list[Spot] = []
    for spot in spots:
        last = joined[-1] if joined else None
        if last is None or spot.start > last.end:
            joined.append(spot)
        elif spot.end > last.end:
            joined[-1] = Spot(last.start, spot.end, last.term)
    return joined


TOOL_NAME = "session_search"
"""The name under which models call the search."""


def words_of(message: Message) -> str:
    """Return a message as text: nothing vanishes, what has no words is named.

    Reasoning is shown only where there is nothing else.
    """
    shown = [_words(part) for part in message.parts if not isinstance(part, Thinking)]
    text = "\n".join(each for each in shown if each)
    if not text:
        text = "\n".join(part.text for part in message.parts if isinstance(part, Thinking))
    # Half a character pair cannot be sent to anyone.
    return text.encode("utf-8", "replace").decode("utf-8")


def tool_of(message: Message) -> str:
    """Return the names of the tools that answer in a message."""
    return ", ".join(dict.fromkeys(result.name for result in message.results if result.name))


def is_output(message: Message) -> bool:
    """Say whether a message is a tool's output or nothing but calls: what is cut first."""
    return message.role is Role.TOOL or (bool(message.calls) and not message.text.strip())


def is_said_by(message: Message, roles: Sequence[Role]) -> bool:
    """Say whether one of the roles said a message; all of them do where none is named.

    A user says what somebody typed. Summaries, and what agents write in the user's name, have the
    role of a user and are nobody's word.
    """
    if not roles or message.role is not Role.USER:
        return not roles or message.role in roles
    text = message.text
    is_typed = is_user_word(message) and (not text or bool(words_typed(text)))
    return is_typed and Role.USER in roles


def is_echo(message: Message, query: Query, names: Mapping[str, str]) -> bool:
    """Say whether a message matches a query only because of an earlier search in it.

    Results that do not carry the names of their calls are looked up among the names.
    """
    kept = tuple(part for part in message.parts if not _is_recall(part, names))
    if len(kept) == len(message.parts):
        return False
    rest = searchable(replace(message, parts=kept))
    return not matches(rest, query)


def _is_recall(part: Part, names: Mapping[str, str]) -> bool:
    match part:
        case ToolCall(name=name):
            return name == TOOL_NAME
        case ToolResult(name=name, call_id=call_id):
            return (name or names.get(call_id)) == TOOL_NAME
        case _:
            return False


def _words(part: Part) -> str:
    match part:
        case Text(text) | Thinking(text):
            return text
        case Summary(text):
            return f"[summary] {text}"
        case Recalled(text):
            return f"[recalled] {text}"
        case ToolCall(name=name, arguments=arguments):
            return f"[calls {name} {arguments}]"
        case ToolResult(content=content):
            return "\n".join(filter(None, map(_words, content)))
        case Media(kind=kind, media_type=media_type, url=url):
            named = "" if url.startswith("data:") else url
            return f"[{' '.join(filter(None, (kind, media_type, named)))}]"
        case Opaque(readable=readable, dialect=dialect):
            return readable or f"[an item of {dialect}]"
        case _:
            assert_never(part)
