"""Patterns that can be slow are refused; ordinary ones are not."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction.pattern_tree import read_pattern
from holdfast.redaction.safety import danger_of

SAFE = [
    r"ACME-[0-9]{6}",
    r"corp_[a-z0-9]+",
    r"\bEMP\d{5}\b",
    r"internal-[0-9]+-[a-z]+",
    r"(?i)proj-[a-z]{3}",
    r"(?:ab|cd){2,5}x",
    r"\d{3}-\d{2}-\d{4}",
    r"user=\w+;",
    r"(?<=id:)\d+",
    r"x[^x]*x",
    r"a(?:b-)+c",
    r"-(?:a(?=b)b)*c",
    r"x[^ax]+a",
]
SLOW = [
    r"(a+)+$",
    r"(a|a)*b",
    r"(a|ab)*c",
    r"\w+\w+x",
    r"(.*)*x",
    r"(x)\1",
    r".*.*=",
    r"(?:a?){30}a{30}",
    r"([a-z]+)*\d",
    r"\w+@\w+",
    r"(?:\d+,?)+;",
    r"a{1,900}a{1,900}b",
    r"^(\w+\s?)*$",
    r"(?:(a)|b)(?(1)c|d)",
    r"-(?:[ab]x|[bc]y)*d",
    r"-(?:[a-z]+)*1",
    r"(?=a{1,900}a{1,900}b)c",
    r"(x)(?:\1)*y",
]


@pytest.mark.parametrize("pattern", SAFE)
def test_an_ordinary_pattern_is_accepted(pattern: str) -> None:
    assert danger_of(read_pattern(pattern)) is None


@pytest.mark.parametrize("pattern", SLOW)
def test_a_slow_pattern_is_refused_with_advice(pattern: str) -> None:
    danger = danger_of(read_pattern(pattern))
    assert danger is not None
    assert danger.reason
    assert danger.advice


PIECES = st.sampled_from(
    [
        "a",
        "b",
        "[ab]",
        r"\w",
        "a+",
        "b*",
        "a?",
        r"\d{1,5}",
        "[ab]+",
        "(?:ab|b)",
        "(?:a|ab)+",
        "-",
        "(?:b+-)*",
    ],
)


@given(st.lists(PIECES, min_size=1, max_size=6))
def test_an_accepted_pattern_is_quick_on_texts_made_to_slow_it_down(pieces: list[str]) -> None:
    pattern = "".join(pieces)
    if danger_of(read_pattern(pattern)) is not None:
        return
    ready = re.compile(pattern)
    started = time.process_time()
    for unit in ("a", "b", "ab", "-a", "a-", "1"):
        for _ in ready.finditer(unit * (4000 // len(unit)) + "!"):
            pass
    assert time.process_time() - started < 2
