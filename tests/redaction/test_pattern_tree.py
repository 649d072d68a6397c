"""The tree of a pattern says what the pattern can read."""

import re

import pytest

from holdfast.redaction.pattern_tree import (
    Chars,
    Choice,
    Look,
    Recall,
    Repeat,
    Series,
    read_pattern,
)

BEYOND = 256
A, B = (Chars(frozenset({ord(letter)})) for letter in "ab")


@pytest.mark.parametrize(
    ("pattern", "tree"),
    [
        ("ab", Series((A, B))),
        ("^a$", Series((A,))),
        ("a|", Series((Choice((Series((A,)), Series(()))),))),
        ("(a)", Series((Series((A,)),))),
        ("(?>ab)", Series((Series((A, B)),))),
        ("a{2,5}", Series((Repeat(Series((A,)), 2, 5, atomic=False),))),
        ("a*?", Series((Repeat(Series((A,)), 0, None, atomic=False),))),
        ("a++", Series((Repeat(Series((A,)), 1, None, atomic=True),))),
        ("(?=a)b", Series((Look(Series((A,))), B))),
        (r"(a)\1", Series((Series((A,)), Recall()))),
        ("\u6f22", Series((Chars(frozenset({BEYOND})),))),
    ],
)
def test_a_pattern_is_read_into_its_parts(pattern: str, tree: Series) -> None:
    assert read_pattern(pattern) == tree


@pytest.mark.parametrize(
    "pattern", ["a", "[^a]", "[^ab]", "[a-f]", r"[^\da-f]", r"\w", r"\S", ".", "(?i)k", "(?i)[^k]"]
)
def test_a_set_has_every_character_that_the_pattern_can_read(pattern: str) -> None:
    (chars,) = read_pattern(pattern).nodes
    assert isinstance(chars, Chars)
    readable = {code for code in range(BEYOND) if re.fullmatch(pattern, chr(code))}
    assert readable <= chars.options


@pytest.mark.parametrize("pattern", ["a", "[^a]", "[^ab]", "[a-f]", r"[^\da-f]", r"\w", r"\S"])
def test_a_set_has_no_character_that_the_pattern_cannot_read(pattern: str) -> None:
    (chars,) = read_pattern(pattern).nodes
    assert isinstance(chars, Chars)
    unreadable = {code for code in range(BEYOND) if not re.fullmatch(pattern, chr(code))}
    assert not unreadable & chars.options


@pytest.mark.parametrize(("pattern", "beyond"), [("[^ab]", True), ("[ab]", False), (r"\w", True)])
def test_a_negated_set_reads_what_is_beyond_the_first_characters(
    pattern: str, beyond: bool
) -> None:
    (chars,) = read_pattern(pattern).nodes
    assert isinstance(chars, Chars)
    assert (BEYOND in chars.options) is beyond
