"""What memory providers share: the words they take in and the lines they give back."""

import json

import pytest

from holdfast.memory_providers.memory_words import (
    RecalledMemory,
    Unsent,
    Utterance,
    as_answer,
    as_lines,
    asked,
    day_of,
    exchange,
    folded,
)
from holdfast.redaction import Redactor, redact
from holdfast.testing.builders import assistant, call, system, tool, user
from holdfast.transcript import Message, Recalled, Role, Synthetic, Text


def test_only_what_people_and_models_said_is_taken_from_a_fold() -> None:
    messages = (
        system("be good"),
        Message(Role.USER, (Recalled("an old memory"), Text("What now?"))),
        assistant("Let me look.", call("1")),
        tool("1", "a long listing"),
        assistant("", call("2")),
        tool("2"),
        Message(Role.USER, (Text("a stand-in"),), synthetic=Synthetic.NOTE),
        assistant("Done."),
    )
    assert folded(messages, redact) == (
        Utterance("user", "What now?"),
        Utterance("assistant", "Let me look."),
        Utterance("assistant", "Done."),
    )


def test_an_expanded_command_is_reduced_to_what_the_user_said() -> None:
    expanded = (
        "<command-message>review is running</command-message>\n"
        "<command-name>/review</command-name>\n<command-args>look at the parser</command-args>"
    )
    (said,) = folded((user(expanded),), redact)
    assert "command-message" not in said.text
    assert "look at the parser" in said.text


def test_a_secret_that_only_the_user_knows_is_masked_before_a_long_text_is_cut() -> None:
    mask = Redactor(("XYZZY-[0-9]+",)).redact
    (said,) = exchange("x " * 4_996 + "XYZZY-123456789 " + "y " * 20_000, "", mask)
    assert "XYZZY" not in said.text
    assert "characters left out]" in said.text
    assert len(said.text) < 20_100


def test_lines_are_single_short_and_said_once() -> None:
    found = [
        RecalledMemory("one\n  two", "2026-11-03", 0.5),
        RecalledMemory("one two", "2026-11-03", 0.4),
        RecalledMemory(" "),
        RecalledMemory("x" * 600),
    ]
    assert as_lines(found) == f"- 2026-11-03: one two\n- {'x' * 500}…"


def test_an_answer_is_json_with_what_is_known() -> None:
    answer = json.loads(
        as_answer([RecalledMemory("á", "2026-11-03", 0.12345), RecalledMemory("b")])
    )
    assert answer == {
        "results": [{"text": "á", "day": "2026-11-03", "score": 0.123}, {"text": "b"}]
    }


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2026-10-22T04:40:22.864647-07:00", "2026-10-22"),
        ("2026-10-22T04:40:22Z", "2026-10-22"),
        (" 2026-10-22 ", "2026-10-22"),
        ("yesterday", ""),
        ("", ""),
        (None, ""),
        (1_700_000_000, ""),
    ],
)
def test_a_day_is_read_where_there_is_one(moment: object, day: str) -> None:
    assert day_of(moment) == day


@pytest.mark.parametrize(
    ("limit", "meant"), [(3, 3), (0, 1), (-5, 1), (9_999, 25), ("many", 8), (True, 8), (2.7, 2)]
)
def test_odd_limits_of_a_model_do_no_harm(limit: object, meant: int) -> None:
    assert asked({"query": " tea ", "limit": limit}, 8, redact) == ("tea", meant)


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": " "}, {"query": 5}])
def test_a_search_without_a_query_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="query must be a text"):
        asked(arguments, 8, redact)


def test_what_was_sent_is_not_brought_again() -> None:
    one, two = Utterance("user", "one"), Utterance("assistant", "one")
    unsent = Unsent()
    unsent.sent((one,))
    assert unsent.among((one, two)) == (two,)


def test_the_oldest_of_very_many_are_forgotten() -> None:
    unsent = Unsent()
    many = [Utterance("user", str(number)) for number in range(10_010)]
    unsent.sent(many)
    assert unsent.among(many) == tuple(many[:10])


def test_half_a_surrogate_pair_is_replaced_before_a_provider_takes_it_in() -> None:
    assert exchange("lone \ud800", "fine", redact) == (
        Utterance("user", "lone \ufffd"),
        Utterance("assistant", "fine"),
    )
    assert asked({"query": "lone \ud800", "limit": float("nan")}, 8, redact) == ("lone \ufffd", 8)
