"""The ledger: names that a record does not tell, in the words they were used in."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from holdfast.facts import ledger


@dataclass(frozen=True)
class Words:
    """Words in which names were used."""

    text: str


def listed(*used: str, present: str = "", budget: int = 2_000) -> list[str]:
    lines = ledger([Words(each) for each in used], present=present, budget=budget, count=len)
    return lines.split("\n") if lines else []


def test_a_name_stands_in_the_words_it_was_used_in() -> None:
    assert listed("We moved the parser to src/mill/parser.py because of the cycle.") == [
        "- We moved the parser to src/mill/parser.py because of the cycle."
    ]


def test_a_name_is_told_as_it_was_used_last() -> None:
    (line,) = listed("created load_config", "renamed load_config for the mill")
    assert line == "- renamed load_config for the mill"


def test_what_is_present_is_not_listed() -> None:
    assert listed("see load_config", "see save_config", present="has load_config") == [
        "- see save_config"
    ]


def test_a_name_at_the_end_of_a_sentence_is_present() -> None:
    assert listed("see src/mill/parser.py", present="It is in src/mill/parser.py.") == []


def test_words_without_names_are_not_listed() -> None:
    assert listed("We talked about the weather, and it was fine.", "340 is 7 more") == []


def test_a_statement_is_whole_or_not_there() -> None:
    long = "before the name " * 20 + "src/mill/parser.py" + " after the name" * 20
    assert listed(long) == []
    assert listed("moved src/mill/parser.py", long) == ["- moved src/mill/parser.py"]
    assert listed("RAN tools/check.sh --strict && git log …", "… of src/mill/parser.py is") == []


def test_names_used_often_are_told_first_where_room_is_short() -> None:
    often = [f"step {n} of deploy_ledger" for n in range(5)]
    assert listed("see other_name", *often, "see third_name", budget=40) == [
        "- step 4 of deploy_ledger"
    ]


def test_several_names_of_one_sentence_take_one_line() -> None:
    assert listed("load_config and save_config live in src/config.py") == [
        "- load_config and save_config live in src/config.py"
    ]


names = st.from_regex(r"[a-z]{3,8}_[a-z]{3,8}|src/[a-z]{2,8}\.py|--[a-z]{4,9}", fullmatch=True)
words = st.lists(names | st.sampled_from(["we", "moved", "it", "to", "语言"]), max_size=20)
sentences = st.lists(words.map(" ".join), max_size=20)


@given(sentences, st.integers(0, 600))
def test_a_ledger_never_exceeds_its_budget(used: list[str], budget: int) -> None:
    lines = ledger([Words(each) for each in used], present="", budget=budget, count=len)
    assert len(lines) <= budget


@given(sentences)
def test_every_word_of_a_ledger_is_a_whole_word_that_was_used(used: list[str]) -> None:
    said = {word for each in used for word in each.split()}
    for line in listed(*used, budget=100_000):
        assert line.startswith("- ")
        assert set(line[2:].split()) <= said


@given(sentences)
def test_with_room_for_all_every_name_of_a_statement_that_is_a_line_stands_in_it(
    used: list[str],
) -> None:
    lines = "\n".join(listed(*used, budget=100_000))
    short = [each for each in used if len(each) <= 160]
    wanted = {word for each in short for word in each.split() if not word.startswith(("-", "语"))}
    assert [name for name in wanted if ("_" in name or "/" in name) and name not in lines] == []


@given(sentences, st.integers(0, 600))
def test_no_line_is_without_words_and_none_comes_twice(used: list[str], budget: int) -> None:
    lines = listed(*used, budget=budget)
    assert len(set(lines)) == len(lines)


@given(st.lists(st.text(max_size=80), max_size=10), st.integers(0, 400))
def test_any_words_make_a_ledger_that_fits(used: list[str], budget: int) -> None:
    lines = ledger([Words(each) for each in used], present="", budget=budget, count=len)
    assert len(lines) <= budget


def test_names_that_were_used_lately_come_first() -> None:
    old = [f"moved load_part_{at} of the mill" for at in range(200)]
    lines = listed(*old, "renamed save_config", budget=40)
    assert lines == ["- renamed save_config"]


def test_what_the_ledger_before_had_stays_also_where_it_is_used_right_now() -> None:
    line = Words("tools/check_ledger.sh --strict - in order")
    around = "RAN tools/check_ledger.sh --strict"
    kept = ledger([], present="", budget=400, count=len, earlier=[line], around=around)
    assert kept == "- tools/check_ledger.sh --strict - in order"
    assert ledger([line], present="", budget=400, count=len, around=around) == ""
    assert ledger([], present=around, budget=400, count=len, earlier=[line]) == ""


def test_what_was_used_often_goes_before_what_was_used_once_and_lately() -> None:
    often = [Words("ran tools/check.sh for the mill") for _ in range(3)]
    once = [Words(f"read src/part_{at}.py of the mill") for at in range(100)]
    assert ledger([*often, *once], present="", budget=36, count=len) == (
        "- ran tools/check.sh for the mill"
    )
