"""Sentences and lines worth quoting, in several languages."""

import pytest

from holdfast.facts import Kind
from holdfast.facts.cues import constraints, decisions, verdicts


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Hello. Never touch src/app.py. Thanks.", "Never touch src/app.py"),
        ("- You must keep the API stable!", "You must keep the API stable"),
        ("先看一下。请不要修改config目录。谢谢", "请不要修改config目录"),
        ("Bitte nur die Tests ändern.", "Bitte nur die Tests ändern"),
        ("Не трогай, только читай файлы.", "Не трогай, только читай файлы"),
        ("Use v2.1 only. İstanbul", "Use v2.1 only"),
    ],
)
def test_a_constraint_is_quoted_as_the_user_said_it(text: str, sentence: str) -> None:
    assert [(fact.kind, fact.text) for fact in constraints(text)] == [(Kind.CONSTRAINT, sentence)]


@pytest.mark.parametrize(
    "text", ["Customers arrive on Mondays.", "mustard, the whole jar", "must", "only " * 100]
)
def test_a_sentence_without_a_cue_or_of_no_use_is_not_a_constraint(text: str) -> None:
    assert list(constraints(text)) == []


def test_who_speaks_is_quoted_like_a_constraint() -> None:
    (fact,) = constraints("Hello. My name is Marta Lindqvist, and I look after the harbor.")
    assert fact.kind is Kind.CONSTRAINT
    assert fact.text == "My name is Marta Lindqvist, and I look after the harbor"


def test_a_decision_is_quoted_with_its_reason() -> None:
    text = "I looked around. I decided to use SQLite instead of files because of locks.\nDone."
    assert [(fact.kind, fact.text) for fact in decisions(text)] == [
        (Kind.DECISION, "I decided to use SQLite instead of files because of locks")
    ]


def test_a_pasted_manual_does_not_flood() -> None:
    manual = "\n".join(f"Rule {number}: you must do thing {number}." for number in range(50))
    assert len(list(constraints(manual))) == 12


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x\n===== 12 passed, 1 failed in 3.2s =====\n", "12 passed, 1 failed in 3.2s"),
        ("test result: ok. 5 passed; 0 failed", "test result: ok. 5 passed; 0 failed"),
        (
            "Tests:       3 failed, 10 passed, 13 total",
            "Tests:       3 failed, 10 passed, 13 total",
        ),
        ("ok  \texample.com/pkg\t0.512s", "ok  \texample.com/pkg\t0.512s"),
        ("Ran 7 tests in 0.1s", "Ran 7 tests in 0.1s"),
    ],
)
def test_a_count_of_tests_is_quoted(text: str, line: str) -> None:
    assert [(fact.kind, fact.text) for fact in verdicts(text)] == [(Kind.TEST, line)]


def test_words_that_count_nothing_are_not_a_verdict() -> None:
    assert list(verdicts("He failed and she passed; ok then. Ran away.")) == []


def test_counts_of_many_packages_do_not_flood() -> None:
    output = "\n".join(f"ok  \tpkg/{number}\t0.1s" for number in range(50))
    assert len(list(verdicts(output))) == 12
