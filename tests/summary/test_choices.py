"""Short answers: what "b" or "do 1 and 3" chose."""

from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction import redact
from holdfast.summary.checkpoint import Checkpoint
from holdfast.summary.choices import chosen, titles
from holdfast.summary.draft import draft
from holdfast.summary.record import Record
from holdfast.summary.turns import read_turns
from holdfast.transcript import Message
from holdfast.transcript.toolkit import Toolkit
from tests.summary.material import assistant, count, job, user

OPTIONS = """Where shall the tide tables live?

**A) In the harbor file** - one file, easy to read.
**B) One file for each quay.** Easier to change.
- **C)** Nowhere
"""
STEPS = """What is left:

1. **Grease the winch**
   - twice a year
2. Paint the gate: red, as before
3. Count `boats`
"""


@pytest.mark.parametrize(
    ("answer", "said", "points"),
    [
        ("b", OPTIONS, "b) One file for each quay"),
        ("B. And keep the old one.", OPTIONS, "b) One file for each quay"),
        ("allow A or C", OPTIONS, "a) In the harbor file; c) Nowhere"),
        ("(c)", OPTIONS, "c) Nowhere"),
        ("ok, do 1+2 next", STEPS, "1) Grease the winch; 2) Paint the gate"),
        ("on 2: is the paint dry?", STEPS, "2) Paint the gate"),
        ("on 3, can you ask the keeper", STEPS, "3) Count `boats`"),
        ("bitte 1 und 3", STEPS, "1) Grease the winch; 3) Count `boats`"),
        ("选 2", STEPS, "2) Paint the gate"),
        ("давай 2 и 3", STEPS, "2) Paint the gate; 3) Count `boats`"),
    ],
)
def test_an_answer_names_points(answer: str, said: str, points: str) -> None:
    assert titles(chosen(answer, [said])) == points


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        "a new table, please",
        "wait 2 minutes",
        "4",
        "d",
        "pros and cons of a and b?",
        "I saw 2 boats",
        "1. The winch squeaks.\n" + "Nobody has looked at it since the spring tides. " * 4,
        "1 " + "and so on, as the keeper told me yesterday at the gate, " * 4,
    ],
)
def test_other_answers_name_none(answer: str) -> None:
    assert chosen(answer, [STEPS]) == []
    assert chosen(answer, [OPTIONS]) == []


def test_the_newest_list_is_meant_also_some_turns_later() -> None:
    assert titles(chosen("on 2, go", ["Done.", STEPS, OPTIONS])) == "2) Paint the gate"
    assert chosen("b", ["Done.", STEPS, OPTIONS]) == []
    assert chosen("1", ["Only one:\n1. Row"]) == []
    assert chosen("1", []) == []
    assert chosen("1", repeat("Done.")) == []


def test_a_point_without_an_end_is_cut() -> None:
    long = "row " * 100
    assert titles(chosen("1", [f"1. {long}\n2. sail"])) == f"1) {long[:197].rstrip()}…"


def record_of(turns: list[Message]) -> Record:
    """Return the record of the turns, with all the room it could use."""
    return draft(job(turns, budget=4_000, redact=redact)).record(4_000, count)[0]


def test_a_record_tells_what_an_answer_chose() -> None:
    turns = [user("Plan the tide tables."), assistant(OPTIONS), user("b"), assistant("Very well.")]
    assert read_turns(turns, Toolkit(), 10)[-1].chosen == [
        "b) One file for each quay.** Easier to change."
    ]
    entry = next(each for each in record_of([*turns, user("Go on")]).actions if 'User: "b"' in each)
    assert "Refers to: b) One file for each quay" in entry


def test_a_point_that_only_an_earlier_record_tells_is_chosen_too() -> None:
    first = record_of([user("What is left?"), assistant(STEPS), user("Wait"), assistant("I do.")])
    turns = [user("ok, do 1+3 next"), assistant("Very well."), user("Go on")]
    again = draft(job(turns, previous=Checkpoint(first), budget=4_000)).record(4_000, count)[0]
    entry = next(each for each in again.actions if "1+3" in each)
    assert "Refers to: 1) Grease the winch twice a year; 3) Count `boats`" in entry


def test_a_secret_in_a_point_is_not_told() -> None:
    options = "A) Use the key sk-proj-" + "a1B2c3D4e5F6g7H8" * 3 + "\nB) Wait"
    turns = [user("Which?"), assistant(options), user("a"), assistant("Very well."), user("Go on")]
    assert "a1B2c3D4" not in str(record_of(turns))


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=3))
def test_whatever_is_said_points_are_lines_of_it(answer: str, said: list[str]) -> None:
    for line in chosen(answer, said):
        assert any(line.partition(") ")[2] in text for text in said)
