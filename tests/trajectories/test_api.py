"""Trajectories from Python: waiting or not, one or many, inside a loop or outside."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from typing import cast

import pytest
from hypothesis import given

from holdfast.errors import ConfigError, DecodeError, SummarizerDenied
from holdfast.redaction import Redactor
from holdfast.testing import ScriptedSummarizer
from holdfast.tokens import Estimator
from holdfast.trajectories import (
    CompressedTrajectory,
    TrajectoryMetrics,
    acompress,
    acompress_many,
    compress,
)
from tests.trajectories.material import (
    SECRETS,
    Turns,
    long_story,
    openai,
    sharegpt,
    trajectories,
    words,
)
from tests.trajectories.skipping import run

LONG = sharegpt(long_story())


def small(turns: Turns, **options: object) -> CompressedTrajectory:
    return compress(  # pyright: ignore[reportCallIssue]
        turns,
        target_tokens=300,
        summary_tokens=80,
        tokenizer="estimate",
        **options,  # pyright: ignore[reportArgumentType]
    )


async def asmall(turns: Turns, **options: object) -> CompressedTrajectory:
    return await acompress(  # pyright: ignore[reportCallIssue]
        turns,
        target_tokens=300,
        summary_tokens=80,
        tokenizer="estimate",
        **options,  # pyright: ignore[reportArgumentType]
    )


async def many(
    turns: Iterator[Turns], concurrency: int, **options: object
) -> list[CompressedTrajectory]:
    found = acompress_many(  # pyright: ignore[reportCallIssue]
        turns,
        concurrency=concurrency,
        target_tokens=300,
        summary_tokens=80,
        tokenizer="estimate",
        **options,  # pyright: ignore[reportArgumentType]
    )
    return [each async for each in found]


def summary_of(done: CompressedTrajectory) -> object:
    return done.turns[done.metrics.turns_compressed_start_idx]["value"]


@given(trajectories())
def test_waiting_or_not_gives_the_same(raw: Turns) -> None:
    assert small(raw) == run(asmall(raw))


def test_waiting_or_not_asks_the_model_the_same() -> None:
    one, other = (ScriptedSummarizer(["", "Did things."], name="m") for _ in range(2))
    found = run(asmall(LONG, summarizer=other))
    assert found.metrics.summary_origin == "model"
    assert (found.metrics.summarization_api_calls, found.metrics.summarization_errors) == (2, 1)
    one = ScriptedSummarizer(["Did things."], name="m")
    done = small(LONG, summarizer=one)
    assert (done.turns, one.asks) == (found.turns, other.asks[1:])
    assert summary_of(done) == "[CONTEXT SUMMARY]: Did things."


def test_a_trajectory_stays_as_it_is() -> None:
    before = json.dumps(LONG)
    assert small(LONG).metrics.was_compressed
    assert json.dumps(LONG) == before


def test_compress_works_inside_a_loop_that_runs() -> None:
    async def inside() -> CompressedTrajectory:
        await asyncio.sleep(0)
        return small(LONG, summarizer=lambda _: "Did things.")

    assert asyncio.run(inside()) == small(LONG, summarizer=lambda _: "Did things.")


def test_a_model_that_fails_leaves_the_deterministic_record() -> None:
    done = small(LONG, summarizer=ScriptedSummarizer([SummarizerDenied("bad key")]))
    plain = small(LONG)
    assert done.turns == plain.turns
    assert (done.metrics.summarization_api_calls, done.metrics.summarization_errors) == (1, 1)
    assert (plain.metrics.summarization_api_calls, plain.metrics.summary_origin) == (
        0,
        "deterministic",
    )


def test_a_function_that_hangs_is_given_up() -> None:
    async def hangs(prompt: str) -> str:
        await asyncio.sleep(1e9)
        return prompt

    done = small(LONG, summarizer=hangs, timeout=0.05, attempts=1)
    assert (done.metrics.summarization_errors, done.metrics.summary_origin) == (1, "deterministic")


def test_an_answer_that_is_too_long_is_cut_to_the_allowance() -> None:
    done = small(LONG, summarizer=lambda _: words(150))
    assert done.metrics.summary_origin == "model"
    assert done.metrics.compressed_tokens <= 300
    assert str(summary_of(done)).endswith(" [...]")


def test_secrets_are_masked_unless_they_are_wanted() -> None:
    raw: Turns = [{"from": "human", "value": f"use {SECRETS['github']}"}]
    masked = {"from": "human", "value": f"use ghp_...{SECRETS['github'][-4:]}"}
    assert compress(raw, tokenizer="estimate").turns == (masked,)
    assert compress(raw, tokenizer="estimate", redactor=None).turns == tuple(raw)
    own = compress(raw, tokenizer="estimate", redactor=Redactor(["use"]))
    assert "use" not in str(own.turns[0]["value"])


def test_no_request_has_a_secret() -> None:
    said = openai(long_story())
    for turn in said:
        turn["content"] = f"{turn['content']} {SECRETS['openai']}"
    scripted = ScriptedSummarizer(["Did things."])
    small(said, summarizer=scripted)
    (ask,) = scripted.asks
    assert SECRETS["openai"] not in ask.prompt


def test_a_counter_may_be_given() -> None:
    class Letters(Estimator):
        def count(self, text: str) -> int:
            return len(text)

    raw: Turns = [{"from": "human", "value": "four"}]
    assert compress(raw, tokenizer=Letters()).metrics == TrajectoryMetrics(
        original_tokens=4,
        compressed_tokens=4,
        original_turns=1,
        compressed_turns=1,
        skipped_under_target=True,
    )


def test_what_cannot_be_met_is_an_error_of_the_caller() -> None:
    with pytest.raises(ConfigError, match="the target is 100 tokens"):
        compress([], target_tokens=100)
    with pytest.raises(ConfigError, match="no exact vocabulary for 'nothing'"):
        compress([], tokenizer="nothing")
    with pytest.raises(ConfigError, match="concurrency is 0"):
        asyncio.run(many(iter([]), 0))
    wrong: Turns = [{"from": "x", "value": ""}]
    with pytest.raises(DecodeError, match="turn 0: unknown speaker 'x'"):
        compress(wrong, tokenizer="estimate")
    with pytest.raises(DecodeError, match="turn 0: unknown speaker 'x'"):
        asyncio.run(many(iter([wrong]), 1))


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_many_come_in_order_with_so_many_under_way(concurrency: int) -> None:
    taken, open_now, most = 0, 0, 0

    def source() -> Iterator[Turns]:
        nonlocal taken
        for number in range(12):
            taken += 1
            yield [*LONG[:-1], {"from": "gpt", "value": f"number {number}"}]

    async def write(prompt: str) -> str:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        # The first of them are the slowest.
        await asyncio.sleep(20 - taken)
        open_now -= 1
        return f"Did things while {taken} were taken."

    found = run(many(source(), concurrency, summarizer=write))
    assert [cast("str", each.turns[-1]["value"]) for each in found] == [
        f"number {number}" for number in range(12)
    ]
    assert {each.metrics.summary_origin for each in found} == {"model"}
    assert most == min(concurrency, 12)


def test_no_more_trajectories_are_taken_than_are_under_way() -> None:
    taken = 0

    def source() -> Iterator[Turns]:
        nonlocal taken
        while True:
            taken += 1
            yield LONG

    async def first_two() -> list[int]:
        many = acompress_many(source(), concurrency=4, tokenizer="estimate")
        found = cast("AsyncGenerator[CompressedTrajectory]", many)
        seen: list[int] = []
        async for _ in found:
            seen.append(taken)
            if len(seen) == 2:
                break
        await found.aclose()
        return seen

    assert run(first_two()) == [4, 5]
