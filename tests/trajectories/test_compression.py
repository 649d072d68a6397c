"""One trajectory made smaller: what is kept is kept, and the figures are true."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.redaction import Redactor
from holdfast.summary import Written
from holdfast.tokens import IMAGE_TOKENS
from holdfast.trajectories.asking import NOTICE, PREFIX
from holdfast.trajectories.compression import (
    CompressedTrajectory,
    Pending,
    Rules,
    TrajectoryPolicy,
    estimated,
    finish,
    prepare,
)
from holdfast.trajectories.metrics import TrajectoryMetrics
from tests.trajectories.material import (
    SECRETS,
    SHAPES,
    SMALL,
    Said,
    Turns,
    count,
    expected_region,
    long_story,
    openai,
    sharegpt,
    speaker_of,
    targets,
    trajectories,
    weight_of,
    words,
)

RULES = Rules(SMALL, count, Redactor().redact)
answers = st.one_of(
    st.none(),
    st.integers(0, 300).map(lambda size: Written(words(size), "model-x")),
    st.just(Written(PREFIX + "It did things.")),
    st.just(Written("長い要約" * 200)),
)


def compressed(
    raw: Turns, answer: Written | None = None, rules: Rules = RULES
) -> CompressedTrajectory:
    prepared = prepare(raw, rules)
    return finish(prepared, answer, rules) if isinstance(prepared, Pending) else prepared


def written(done: CompressedTrajectory) -> Turns:
    return [dict(turn) for turn in done.turns]


def summaries(turns: Turns) -> list[int]:
    return [place for place, turn in enumerate(turns) if label(turn).get("synthetic") == "summary"]


def label(turn: dict[str, object]) -> dict[str, object]:
    """Return what a turn says of where it is from."""
    return cast("dict[str, object]", turn.get("holdfast", {}))


def without_notice(turn: dict[str, object]) -> dict[str, object]:
    """Return a system turn as it was before a note was added."""
    told = json.loads(json.dumps(turn))
    assert told.pop("holdfast") == {"synthetic": "note", "partial": True}
    key = "value" if "from" in told else "content"
    if isinstance(told[key], str):
        assert told[key].endswith(NOTICE)
        return {**told, key: told[key].removesuffix(NOTICE)}
    *parts, last = told[key]
    assert NOTICE in last.values()
    return {**told, key: parts}


@given(trajectories(), answers, targets)
def test_the_turns_of_the_specification_are_replaced_by_one_human_turn(
    raw: Turns, answer: Written | None, policy: TrajectoryPolicy
) -> None:
    tokens = [weight_of(turn) for turn in raw]
    region = expected_region([speaker_of(turn) for turn in raw], tokens, policy)
    done = compressed(raw, answer, replace(RULES, policy=policy))
    turns = written(done)
    if region is None:
        assert turns == raw
        assert not summaries(turns)
        return
    start, stop = region
    assert summaries(turns) == [start]
    assert speaker_of(turns[start]) == "human"
    assert turns[start + 1 :] == raw[stop:]
    noted = [place for place in range(start) if "holdfast" in turns[place]]
    system = [place for place, turn in enumerate(raw) if speaker_of(turn) == "system"]
    assert noted == system[:1]
    assert [
        without_notice(turn) if place in noted else turn for place, turn in enumerate(turns[:start])
    ] == raw[:start]


@given(trajectories(), answers, targets)
def test_the_figures_are_those_of_an_independent_count(
    raw: Turns, answer: Written | None, policy: TrajectoryPolicy
) -> None:
    before = sum(map(weight_of, raw))
    done = compressed(raw, answer, replace(RULES, policy=policy))
    turns = written(done)
    after = sum(map(weight_of, turns))
    tokens = [weight_of(turn) for turn in raw]
    region = expected_region([speaker_of(turn) for turn in raw], tokens, policy)
    assert done.metrics.original_tokens == before
    assert done.metrics.compressed_tokens == after
    assert done.metrics.tokens_saved == before - after
    assert (done.metrics.original_turns, done.metrics.compressed_turns) == (len(raw), len(turns))
    assert done.metrics.was_compressed == (region is not None)
    assert done.metrics.skipped_under_target == (before <= policy.target_tokens)
    assert done.metrics.still_over_limit == (after > policy.target_tokens)
    if region is not None:
        start, stop = region
        metrics = done.metrics
        assert (metrics.turns_compressed_start_idx, metrics.turns_compressed_end_idx) == region
        assert metrics.summary_tokens == weight_of(turns[start])
        said = answer is not None and answer.text != ""
        assert metrics.summary_origin == ("model" if said else "deterministic")
        assert after < before
        # What is added weighs no more than it may, and so what has to go is enough.
        replaced = sum(map(weight_of, raw[start:stop]))
        assert after - (before - replaced) <= policy.summary_tokens
        if replaced >= before - policy.target_tokens + policy.summary_tokens:
            assert after <= policy.target_tokens


@given(trajectories())
def test_compressing_again_adds_no_second_notice(raw: Turns) -> None:
    once = written(compressed(raw))
    tighter = TrajectoryPolicy(target_tokens=200, summary_tokens=64)
    twice = written(compressed(once, rules=Rules(tighter, count, None)))
    told = json.dumps(twice)
    has_system = any(speaker_of(turn) == "system" for turn in raw)
    changed = once != raw or twice != once
    assert told.count(json.dumps(NOTICE)[1:-1]) == (1 if has_system and changed else 0)


@given(trajectories())
def test_the_same_trajectory_gives_the_same_turns(raw: Turns) -> None:
    assert compressed(raw) == compressed(json.loads(json.dumps(raw)))


def test_a_third_of_the_trajectories_that_are_drawn_are_compressed() -> None:
    drawn: list[TrajectoryMetrics] = []

    @settings(derandomize=True)
    @given(trajectories(), targets)
    def draw(raw: Turns, policy: TrajectoryPolicy) -> None:
        drawn.append(compressed(raw, None, replace(RULES, policy=policy)).metrics)

    draw()
    assert sum(each.was_compressed for each in drawn) * 3 >= len(drawn)
    # Of those, as many again reach their target, and some that fit are among the rest.
    reached = [each for each in drawn if each.was_compressed and not each.still_over_limit]
    assert len(reached) * 6 >= len(drawn)
    assert sum(each.skipped_under_target for each in drawn) * 20 >= len(drawn)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_trajectory_by_example(shape: str) -> None:
    raw = SHAPES[shape](long_story())
    done = compressed(raw, Written("Ran the tests twice.", "model-x"))
    start, stop = done.metrics.turns_compressed_start_idx, done.metrics.turns_compressed_end_idx
    text = "[CONTEXT SUMMARY]: Ran the tests twice."
    said = {
        "sharegpt": {"from": "human", "value": text},
        "openai": {"role": "user", "content": text},
        "parts": {"role": "user", "content": [{"type": "text", "value": text}]},
    }[shape]
    assert (start, len(done.turns)) == (4, len(raw) - (stop - start) + 1)
    assert done.turns[start] == {
        **said,
        "holdfast": {
            "synthetic": "summary",
            "origin": "model",
            "model": "model-x",
            "turns": [start, stop],
        },
    }


def test_an_answer_is_redacted_and_loses_the_prefix_that_it_repeats() -> None:
    raw = sharegpt(long_story())
    secret = SECRETS["openai"]
    done = compressed(raw, Written(f"[CONTEXT SUMMARY]: The key {secret} worked."))
    place = done.metrics.turns_compressed_start_idx
    assert done.turns[place]["value"] == (
        f"[CONTEXT SUMMARY]: The key sk-p...{secret[-4:]} worked."
    )


def test_an_answer_that_is_only_the_prefix_gives_the_deterministic_record() -> None:
    raw = sharegpt(long_story())
    assert compressed(raw, Written("[CONTEXT SUMMARY]: \n")) == compressed(raw)


def test_a_secret_in_any_turn_is_in_no_turn_that_leaves() -> None:
    said = long_story()
    secrets = list(SECRETS.values())
    said = [
        Said(each.speaker, f"{each.text} {secrets[place % len(secrets)]}", each.calls)
        for place, each in enumerate(said)
    ]
    done = compressed(openai(said))
    assert done.metrics.was_compressed
    assert done.metrics.redacted_turns == len(said)
    assert not [secret for secret in secrets if secret in json.dumps(written(done))]


def test_secrets_stay_where_nothing_is_redacted() -> None:
    raw: Turns = [{"from": "human", "value": SECRETS["npm"]}]
    done = prepare(raw, Rules(SMALL, count, None))
    assert isinstance(done, CompressedTrajectory)
    assert done.turns == tuple(raw)
    assert done.metrics.redacted_turns == 0


def test_what_the_redaction_left_is_counted_and_not_what_it_masked() -> None:
    heavy = " ".join([SECRETS["anthropic"]] * 8)
    raw: Turns = [{"from": "human", "value": heavy}]
    done = compressed(raw)
    assert count(heavy) > SMALL.target_tokens
    assert done.metrics.skipped_under_target
    assert done.metrics.compressed_tokens == weight_of(written(done)[0])


def test_a_trajectory_without_turns_fits() -> None:
    assert compressed([]) == CompressedTrajectory(
        (),
        TrajectoryMetrics(
            original_tokens=0,
            compressed_tokens=0,
            original_turns=0,
            compressed_turns=0,
            skipped_under_target=True,
        ),
    )


def test_a_trajectory_that_nothing_can_be_taken_from_is_left_and_said_to_be_over() -> None:
    raw = sharegpt([Said("human", words(400)), Said("gpt", words(400))])
    done = compressed(raw)
    total = sum(map(weight_of, raw))
    assert done == CompressedTrajectory(
        tuple(raw),
        TrajectoryMetrics(
            original_tokens=total,
            compressed_tokens=total,
            original_turns=2,
            compressed_turns=2,
            still_over_limit=True,
        ),
    )


def test_pictures_and_reasoning_weigh_in() -> None:
    raw = openai(long_story(4, 10))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    raw[6] = {**raw[6], "content": [{"type": "text", "text": "see"}, picture]}
    raw[8] = {**raw[8], "reasoning_content": words(40)}
    done = compressed(raw)
    assert done.metrics.original_tokens == sum(map(weight_of, raw)) > IMAGE_TOKENS
    assert done.metrics.compressed_tokens == sum(map(weight_of, written(done)))


def test_an_estimate_takes_all_of_the_allowance() -> None:
    prepared = prepare(sharegpt(long_story()), RULES)
    assert isinstance(prepared, Pending)
    real, guess = finish(prepared, None, RULES).metrics, estimated(prepared, SMALL)
    weight = guess.original_tokens - guess.tokens_saved
    assert guess == TrajectoryMetrics(
        original_tokens=real.original_tokens,
        compressed_tokens=weight,
        original_turns=real.original_turns,
        compressed_turns=real.compressed_turns,
        turns_compressed_start_idx=real.turns_compressed_start_idx,
        turns_compressed_end_idx=real.turns_compressed_end_idx,
        was_compressed=True,
        summary_tokens=80,
    )
    assert real.compressed_tokens <= weight <= SMALL.target_tokens


@pytest.mark.parametrize(
    "read",
    [
        lambda turns: turns,
        lambda turns: [{**turn, "weight": 0, "loss": None} for turn in turns],
        lambda turns: json.loads(json.dumps(turns)),
    ],
)
def test_fields_of_a_turn_ride_along(read: Callable[[Turns], Turns]) -> None:
    raw = read(sharegpt(long_story()))
    done = compressed(raw)
    stop = done.metrics.turns_compressed_end_idx
    start = done.metrics.turns_compressed_start_idx
    assert written(done)[start + 1 :] == raw[stop:]
    assert written(done)[1:start] == raw[1:start]
