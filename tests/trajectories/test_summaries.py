"""What a model is asked for a summary, what is written without one, and how both are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.providers import ExactCounter
from holdfast.trajectories.asking import NOTICE, PREFIX, RegionMaterial, ask_for, cut_to, told
from holdfast.trajectories.compression import Pending, Rules, TrajectoryPolicy, finish, prepare
from holdfast.trajectories.turns import read_turns
from tests.trajectories.material import (
    SHAPES,
    Said,
    Turns,
    count,
    long_story,
    openai,
    sharegpt,
    trajectories,
    words,
)

exactly = ExactCounter("o200k").count
COUNTERS = {"estimate": count, "exact": exactly}
CUT = " [...]"


def material(raw: Turns, first: int = 4) -> RegionMaterial:
    shape, turns = read_turns(raw)
    return RegionMaterial(turns, [turn.tokens(exactly) for turn in turns], first, shape)


sizes = st.lists(
    st.tuples(st.integers(1, 40), st.sampled_from([0, 1, 8, 60, 400, 3_000])),
    min_size=1,
    max_size=4,
)


@given(sizes, st.integers(3_000, 200_000), st.sampled_from([80, 750]))
def test_a_request_of_plain_words_fits_any_window(
    groups: list[tuple[int, int]], window: int, budget: int
) -> None:
    said = [Said("gpt", words(size)) for number, size in groups for _ in range(number)]
    ask = ask_for(material(sharegpt(said)), budget, window, exactly)
    assert exactly(ask.prompt) * 1.25 + ask.max_tokens <= window
    assert ask.max_tokens == int(budget * 1.3)


def test_a_request_has_the_turns_with_their_numbers_and_speakers() -> None:
    ask = ask_for(material(sharegpt(long_story(1, 3)), first=7), 750, 64_000, exactly)
    assert ask.purpose == "first"
    assert "Use at most\n750 tokens" in ask.prompt
    assert (
        ask.prompt.partition("<turns>\n")[2] == "[turn 7, system]\nYou are an agent.\n\n"
        "[turn 8, human]\nMake the tests pass.\n\n"
        "[turn 9, gpt]\nthe agent opened\n\n"
        "[turn 10, tool]\nthe agent opened\n\n"
        "[turn 11, human]\nIs it done?\n\n"
        "[turn 12, gpt]\nAll tests pass.\n"
        "</turns>\n\nSummary:"
    )


def test_a_request_shows_reasoning_and_calls() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"a":1}'}}
    raw: Turns = [
        {"role": "assistant", "content": None, "reasoning_content": "why", "tool_calls": [call]}
    ]
    assert (
        '[turn 4, gpt]\nwhy\nbash\n{"a":1}\n' in ask_for(material(raw), 750, None, exactly).prompt
    )


def test_a_turn_is_shortened_in_its_middle() -> None:
    text = "A" * 5_000 + "B" * 5_000
    prompt = ask_for(material([{"from": "gpt", "value": text}]), 750, None, exactly).prompt
    shown = "A" * 4_500 + "\n[4,000 characters left out]\n" + "B" * 1_500
    assert f"[turn 4, gpt]\n{shown}\n</turns>" in prompt


def test_of_too_many_turns_the_first_and_the_last_are_shown() -> None:
    said = [Said("gpt", f"step {number} " + words(20)) for number in range(3_000)]
    ask = ask_for(material(sharegpt(said)), 80, 3_000, exactly)
    assert "step 0 " in ask.prompt
    assert ask.prompt.endswith(f"{words(20)[-9:]}\n</turns>\n\nSummary:")
    assert " characters left out]\n" in ask.prompt


def test_a_window_without_room_still_gives_a_request() -> None:
    ask = ask_for(material(sharegpt(long_story(9))), 750, 1_000, exactly)
    assert len(ask.prompt) < 1_300


def test_braces_in_turns_are_words() -> None:
    raw: Turns = [{"from": "gpt", "value": "{tokens} {0} {{x}}"}]
    assert "{tokens} {0} {{x}}" in ask_for(material(raw), 80, None, exactly).prompt


texts = st.one_of(
    st.integers(0, 400).map(words),
    st.text(max_size=300),
    st.text("ab \n", max_size=300),
    st.just("x" * 900),
    st.just("要約" * 300),
)


@given(texts, st.integers(4, 120), st.sampled_from(sorted(COUNTERS)))
def test_a_cut_text_is_never_over_its_budget_and_is_a_beginning(
    text: str, budget: int, name: str
) -> None:
    counted = COUNTERS[name]
    cut = cut_to(text, budget, counted)
    assert counted(cut) <= budget
    if counted(text.strip()) <= budget:
        assert cut == text.strip()
    else:
        assert cut.endswith(CUT)
        assert text.strip().startswith(cut.removesuffix(CUT))


@given(st.integers(100, 400), st.integers(10, 60), st.sampled_from(sorted(COUNTERS)))
def test_a_text_is_cut_between_words(size: int, budget: int, name: str) -> None:
    cut = cut_to(words(size), budget, COUNTERS[name]).removesuffix(CUT)
    kept = cut.split()
    assert kept == words(size).split()[: len(kept)]
    assert len(kept) >= budget // 4


def test_a_text_of_one_long_word_is_cut_inside_it() -> None:
    assert cut_to("x" * 100, 10, len) == "xxxx [...]"


@given(trajectories(), st.integers(40, 200), st.sampled_from(sorted(COUNTERS)))
def test_the_deterministic_record_says_something_within_its_budget_and_always_the_same(
    raw: Turns, budget: int, name: str
) -> None:
    counted = COUNTERS[name]
    found = material(raw)
    record = told(found, budget, lambda text: counted(PREFIX + text))
    assert record.strip()
    assert counted(PREFIX + record) <= budget
    assert told(material(raw), budget, lambda text: counted(PREFIX + text)) == record


@pytest.mark.parametrize("shape", SHAPES)
def test_the_deterministic_record_names_what_was_done(shape: str) -> None:
    said = [
        Said("human", "Never push to main. Use port 8081."),
        Said("gpt", "I edited src/login.py and decided to keep sqlite because it is simple."),
        Said("human", "Fix tests/test_login.py too."),
        Said("gpt", "Fixed tests/test_login.py; 12 tests pass."),
    ]
    record = told(material(SHAPES[shape](said)), 400, count)
    assert "tests/test_login.py" in record
    assert "Never push to main" in record
    assert "None." not in record


def test_turns_that_no_dialect_reads_are_listed_by_their_beginnings() -> None:
    raw = openai([Said("human", words(3)), Said("gpt", words(200))])
    raw[1]["tool_calls"] = [{"function": {"name": 5}}]
    record = told(material(raw), 400, count)
    assert record.startswith("human: the agent opened\ngpt: the agent opened src/app/main.py and")
    assert " characters left out]" in record


def test_turns_without_a_word_are_still_told_of() -> None:
    assert told(material(sharegpt([Said("gpt", ""), Said("tool", "")])), 100, count) == (
        "gpt: \ntool:"
    )


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("prompt", ["You are an agent.", "", "ends\n", "日本語", "```"])
def test_the_smallest_allowance_holds_the_notice_and_a_summary(name: str, prompt: str) -> None:
    counted = COUNTERS[name]
    rules = Rules(TrajectoryPolicy(target_tokens=300, summary_tokens=32), counted, None)
    prepared = prepare(sharegpt([Said("system", prompt), *long_story()[1:]]), rules)
    assert isinstance(prepared, Pending)
    done = finish(prepared, None, rules)
    start = done.metrics.turns_compressed_start_idx
    rest = done.metrics.original_tokens - prepared.region.tokens
    assert done.metrics.compressed_tokens - rest <= 32
    assert str(done.turns[0]["value"]).endswith(NOTICE)
    assert str(done.turns[start]["value"]).startswith(PREFIX + "gp")
