"""Material as people and programs leave it: odd, damaged, hostile, and in every script."""

import asyncio
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent_files.files import Blocks
from holdfast.errors import SummarizerUnavailable
from holdfast.providers import ExactCounter
from holdfast.providers.callable_summarizer import CallableSummarizer
from holdfast.summary import Written
from holdfast.trajectories.asking import (
    BulkSummarizer,
    RegionMaterial,
    SummaryLimits,
    ask_for,
    cut_to,
)
from holdfast.trajectories.items import Item
from holdfast.trajectories.turns import read_turns
from holdfast.trajectories.work import Failed
from tests.trajectories.material import (
    SECRETS,
    WORK,
    Said,
    Turns,
    finished,
    lined,
    long_story,
    openai,
    outcome,
    outcomes,
    sharegpt,
    weight_of,
    words,
)
from tests.trajectories.skipping import now, run
from tests.trajectories.test_asking import ASK, COUNT, PRICE, PROMPT, ask_many, asked, paid
from tests.trajectories.test_compression import compressed
from tests.trajectories.test_items import LINE, ONE, items, objects, written

exactly = ExactCounter("o200k").count


@given(st.lists(objects, max_size=6), st.sampled_from([None, 1]), st.integers(1, 200))
def test_the_objects_of_a_list_come_back_whole_however_the_bytes_are_split(
    entries: list[dict[str, object]], indent: int | None, block: int
) -> None:
    content = json.dumps([ONE, *entries], indent=indent, ensure_ascii=False).encode()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.trajectories.items.Blocks", partial(Blocks, block=block))
        found = items(written(Path(folder), content))
    assert [json.loads(item.content or b"0") for item in found] == [ONE, *entries]


@pytest.mark.parametrize(
    "beside",
    [
        {"input": "the task"},
        {"input": None},
        {"contents": "a page"},
        {"messages": None},
        {"messages": []},
        {"messages": "none"},
    ],
)
def test_a_field_that_is_no_conversation_rides_along(beside: dict[str, object]) -> None:
    raw = sharegpt(long_story())
    done = finished({**beside, "conversations": raw})
    told = json.loads(done.line)
    assert {name: told[name] for name in beside} == beside
    assert done.metrics.original_turns == len(raw)
    assert done.metrics.was_compressed


@pytest.mark.parametrize("value", [None, "text", 5, {"a": 1}])
def test_a_conversation_that_is_no_list_is_set_aside(value: object) -> None:
    assert isinstance(outcome(lined({"conversations": value})), Failed)


@pytest.mark.parametrize(
    "line",
    [
        b'{"conversations":[{"from":"human","value":"half \\ud83d of a pair"}]}',
        b'{"conversations":[{"from":"human","value":"x","score":NaN}]}',
        b'{"conversations":[{"from":"human","value":"x","score":-Infinity}]}',
        b'{"score":NaN,"conversations":[{"from":"human","value":"x"}]}',
        b'{"note":"\\ud83d","conversations":[{"from":"human","value":"x"}]}',
        b'{"n":1e999,"conversations":[{"from":"human","value":"x"}]}',
        b'[{"role":"user","content":"half \\ud83d of a pair"}]',
    ],
)
def test_json_that_only_python_reads_is_read(line: bytes) -> None:
    assert finished(line).line == line + b"\n"


def test_bytes_that_are_no_utf8_are_said_to_be_no_json() -> None:
    failed = outcome(b'{"conversations":[{"from":"human","value":"\xff"}]}')
    assert isinstance(failed, Failed)
    assert failed.error.startswith("json: the line: it is no JSON: ")


@pytest.mark.parametrize(
    "entry",
    [
        b'{"conversations":[{"from":"gpt","value":"half \\ud83d of a pair"}]}',
        b'{"conversations":[{"from":"gpt","value":"\\u00e9"}],"n":1E5}',
        b'{"conversations":[{"from":"gpt","value":"x"}],"n":NaN}',
        b'{"conversations":[{"from":"gpt","value":"x"}],"n":1e999}',
    ],
)
def test_an_element_of_a_list_is_the_bytes_that_it_was(tmp_path: Path, entry: bytes) -> None:
    content = b"[" + LINE + b"," + entry + b"]"
    assert items(written(tmp_path, content)) == [Item(1, LINE), Item(2, entry)]


def test_an_element_that_is_nested_too_deeply_does_not_end_a_list(tmp_path: Path) -> None:
    deep = b'{"conversations":[],"d":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
    content = b"[" + LINE + b"," + deep + b"," + LINE + b"]"
    assert [item.content for item in items(written(tmp_path, content))][::2] == [LINE, LINE]


def test_a_file_whose_name_is_no_utf8_is_sampled() -> None:
    work = replace(WORK, sample=0.5)
    assert outcomes(lined({"conversations": []}), work=work, source="na\udce9.jsonl") is not None


@pytest.mark.parametrize("secret", SECRETS.values())
def test_a_secret_is_not_in_the_error_either(secret: str) -> None:
    for line in (
        lined({"conversations": [{"from": "human", "value": "x"}, {"from": secret, "value": "x"}]}),
        lined({"messages": [{"role": "user", "content": "x"}, {"role": secret, "content": "x"}]}),
        lined({secret: 1}),
    ):
        failed = outcome(line)
        assert isinstance(failed, Failed)
        assert secret not in failed.error


@pytest.mark.parametrize("name", ["type", "from", "role"])
def test_a_secret_in_a_field_beside_the_turns_is_masked_whatever_its_name(name: str) -> None:
    line = lined({name: SECRETS["github"], "conversations": []})
    assert SECRETS["github"].encode() not in finished(line).line


def test_a_field_with_the_name_of_the_turns_is_written_once() -> None:
    line = lined({"conversations": "three", "messages": openai(long_story(1))})
    done = finished(line, replace(WORK, to="sharegpt"))
    keys = [name for name, _ in json.loads(done.line, object_pairs_hook=lambda pairs: pairs)]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    "document",
    [
        {"instructions": "Be good.", "input": [{"role": "user", "content": "Go."}]},
        {
            "systemInstruction": {"parts": [{"text": "Be good."}]},
            "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
        },
    ],
)
def test_a_system_prompt_that_became_a_turn_is_not_told_twice(document: object) -> None:
    assert finished(document).line.count(b"Be good.") == 1


def test_a_system_prompt_beside_the_turns_counts_and_has_the_notice() -> None:
    said = sharegpt(long_story())
    done = finished({"system": said[0]["value"], "conversations": said[1:]})
    assert done.metrics.original_tokens == sum(map(weight_of, said))
    assert b"may be replaced by a summary" in done.line


@given(
    st.lists(
        st.tuples(
            st.integers(1, 60),
            st.sampled_from(["日本語の説明", "🧵☕🥸", "x\n", "0f3a9c", "the agent ran ", "𐀀𐂂𐄄"]),
            st.integers(1, 400),
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(3_000, 200_000),
    st.sampled_from([80, 750]),
)
def test_a_request_fits_any_window(
    groups: list[tuple[int, str, int]], window: int, budget: int
) -> None:
    raw: Turns = [
        {"from": "gpt", "value": text * size}
        for number, text, size in groups
        for _ in range(number)
    ]
    shape, turns = read_turns(raw)
    found = RegionMaterial(turns, [turn.tokens(exactly) for turn in turns], 4, shape)
    ask = ask_for(found, budget, window, exactly)
    assert exactly(ask.prompt) * 1.25 + ask.max_tokens <= window


def test_a_request_uses_most_of_the_window_where_there_is_more_to_show() -> None:
    shape, turns = read_turns(sharegpt([Said("gpt", words(700))] * 60))
    found = RegionMaterial(turns, [turn.tokens(exactly) for turn in turns], 4, shape)
    ask = ask_for(found, 750, 32_000, exactly)
    assert sum(found.tokens) > 32_000
    assert exactly(ask.prompt) * 1.25 + ask.max_tokens >= 0.75 * 32_000


def test_lines_are_cut_between_words_too() -> None:
    text = "\n".join(f"word{number}" for number in range(200))
    kept = cut_to(text, 300, len).removesuffix(" [...]").split()
    assert kept == text.split()[: len(kept)]


def test_a_request_that_timed_out_may_have_been_paid_for() -> None:
    bills: list[float] = []

    async def hangs(prompt: str) -> str:
        bills.append(paid(prompt, "x" * ASK.max_tokens))
        await asyncio.sleep(1e9)
        return prompt

    cap = paid(PROMPT, "x" * ASK.max_tokens) * 2.5
    limits = SummaryLimits(max_cost=cap, timeout=5)
    bulk = BulkSummarizer(CallableSummarizer(hangs), limits, COUNT, price=PRICE)
    run(ask_many(bulk, 4))
    assert sum(bills) <= cap


@pytest.mark.parametrize(
    "answer",
    [
        "The tests failed: the agent wrote that it cannot find src/app.py ('I cannot find it').",
        "代理运行了测试，但无法打开 src/app.py，于是改用 sqlite。",
        "Агент сообщил: «не могу открыть файл», затем исправил права доступа.",
        "The user asked: 'I am unable to log in'. The agent fixed login.py and ran 12 tests.",
    ],
)
def test_a_summary_may_tell_of_what_somebody_could_not_do(answer: str) -> None:
    assert asked([answer]).answer == Written(answer, "scripted")


def test_requests_that_wait_for_the_rate_wait_for_the_provider_too() -> None:
    times: list[float] = []

    async def fails_first(prompt: str) -> str:
        times.append(now())
        if len(times) == 1:
            raise SummarizerUnavailable("busy", retry_after=30)
        return "Did things."

    limits = SummaryLimits(requests_per_minute=60)
    run(ask_many(BulkSummarizer(CallableSummarizer(fails_first), limits, COUNT), 3))
    assert times[0] == 0.0
    assert min(times[1:]) >= 30.0


def test_what_was_noted_of_a_system_turn_stays() -> None:
    raw = sharegpt(long_story())
    raw[0]["holdfast"] = {"synthetic": "note", "source": "x"}
    told = compressed(raw).turns[0]["holdfast"]
    assert isinstance(told, dict)
    assert {"synthetic": "note", "source": "x"}.items() <= told.items()


def test_an_answer_of_nothing_but_the_prefix_is_an_error_that_is_counted() -> None:
    assert asked(["[CONTEXT SUMMARY]:"] * 3).errors == 3


def test_texts_in_a_list_count() -> None:
    _, (turn,) = read_turns([{"role": "user", "content": ["some", "words"]}])
    assert turn.tokens(len) == 9


def test_a_file_that_begins_with_damaged_lines_is_read_to_its_end(tmp_path: Path) -> None:
    content = b"\n".join([*[b"{damaged"] * 6, LINE, LINE])
    found = items(written(tmp_path, content))
    assert [item.content for item in found] == [*[b"{damaged"] * 6, LINE, LINE]


@pytest.mark.parametrize(
    "line",
    [
        '{"note":"%s","note":1,"conversations":[]}',
        '{"conversations":[{"from":"human","value":"%s","value":"x"}]}',
        '{"conversations":[{"from":"human","value":"x","%s":1}]}',
    ],
    ids=["field", "turn", "key"],
)
def test_a_secret_that_a_reader_of_json_does_not_see_is_masked(line: str) -> None:
    assert SECRETS["github"].encode() not in finished((line % SECRETS["github"]).encode()).line


def test_a_secret_that_names_a_field_beside_the_turns_is_masked() -> None:
    secret = SECRETS["github"]
    done = finished(lined({secret: {secret: secret}, "conversations": []}))
    assert secret.encode() not in done.line
    assert list(json.loads(done.line))[1] == "conversations"
