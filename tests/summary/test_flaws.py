import pytest

from holdfast.summary.asking import Ask
from holdfast.summary.flaws import problem, problem_of, repair
from holdfast.summary.prompts import Request, first_prompt, update_prompt
from holdfast.summary.reader import read
from holdfast.summary.record import Record, render

REQUEST = Request(1_000, "2026-09-01", "0a0b0c0d")


def test_a_record_has_no_problem() -> None:
    assert problem(render(Record(goal=("ship",)))) is None


def test_half_a_record_is_a_record() -> None:
    assert problem("## Goal\n- ship\n## Blocked\nNone.\n## Active State\n- main") is None


def test_a_translated_record_is_a_record() -> None:
    text = "\n".join(f"## Abschnitt {name}\n- etwas" for name in "ABCDEFGHIJKLM")
    assert problem(text) is None


def test_nothing_is_not_a_record() -> None:
    assert problem("") == problem(" \n ") == "it was empty"


def test_an_echo_of_the_request_is_not_a_record() -> None:
    prompt = first_prompt(REQUEST, "turns")
    assert problem(prompt) == "it repeated the request"
    template = prompt[prompt.index("## Historical Task") : prompt.index("Every turn")]
    assert problem(template) == "it repeated the request"
    assert problem(update_prompt(REQUEST, "r", 3, "t")) == "it repeated the request"


@pytest.mark.parametrize(
    "words",
    [
        "I'm sorry, I can't help with that.",
        "As an AI I am unable to summarize this conversation, since it may hold private data.",
        "Es tut mir leid, aber ich kann diese Unterhaltung leider nicht zusammenfassen.",
        "抱歉，我无法总结这段对话。",
        "Sure, what would you like me to do?",
        "ok",
    ],
)
def test_a_refusal_and_a_reply_are_not_records(words: str) -> None:
    assert problem(words) == "it was a reply or a refusal"


def test_an_essay_is_a_record_and_one_longer_than_its_request_is_not() -> None:
    essay = "They worked on the parser of the mill, and it keeps the last token now. " * 20
    assert problem(essay) is None
    assert problem(essay, "x" * len(essay)) is None
    assert problem(essay, "x" * (len(essay) - 1)) == "it was longer than what it stands for"


def test_a_record_with_nothing_in_it_never_replaces_turns() -> None:
    assert problem(render(Record())) == "every section was empty"


def test_a_repair_asks_again_and_says_what_was_wrong() -> None:
    ask = Ask("PROMPT", 1_300, "update", 2, 5)
    again = repair(ask, "it was empty")
    assert again.prompt.startswith("PROMPT\n\nAn earlier answer to this could not be used: it was")
    assert (again.purpose, again.max_tokens, again.step, again.steps) == ("repair", 1_300, 2, 5)


def test_an_answer_that_was_read_already_has_the_same_problem() -> None:
    for text in ("", "I cannot.", render(Record()), render(Record(goal=("ship",)))):
        assert problem_of(text, read(text)) == problem(text)
    assert problem_of(render(Record(goal=("ship",))), None) == "every section was empty"
