"""Turns of every shape are read for who speaks and which words count, and stay what they were."""

import pytest
from hypothesis import given

from holdfast.errors import DecodeError
from holdfast.redaction import Redactor
from holdfast.tokens import IMAGE_TOKENS
from holdfast.trajectories.turns import Shape, TrajectoryTurn, added, read_turns, redacted, spoken
from holdfast.transcript import Role
from tests.trajectories.material import (
    SECRETS,
    SHAPES,
    Turns,
    count,
    long_story,
    speaker_of,
    trajectories,
    weight_of,
)

NAMES = {Role.SYSTEM: "system", Role.USER: "human", Role.ASSISTANT: "gpt", Role.TOOL: "tool"}
CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"a": 1}'}}


def read(*raw: dict[str, object]) -> tuple[TrajectoryTurn, ...]:
    return read_turns(raw)[1]


@pytest.mark.parametrize(
    ("speaker", "role"),
    [
        ("system", Role.SYSTEM),
        ("developer", Role.SYSTEM),
        ("human", Role.USER),
        ("user", Role.USER),
        ("gpt", Role.ASSISTANT),
        ("assistant", Role.ASSISTANT),
        ("chatgpt", Role.ASSISTANT),
        ("bing", Role.ASSISTANT),
        ("model", Role.ASSISTANT),
        ("function_call", Role.ASSISTANT),
        ("tool", Role.TOOL),
        ("observation", Role.TOOL),
        ("function", Role.TOOL),
        ("function_response", Role.TOOL),
    ],
)
def test_a_speaker_is_known_in_either_shape(speaker: str, role: Role) -> None:
    turn: dict[str, object] = {"from": speaker, "value": "words", "weight": 1}
    message: dict[str, object] = {"role": speaker, "content": "words", "name": "x"}
    assert read(turn, message) == (
        TrajectoryTurn(role, turn, ("words",)),
        TrajectoryTurn(role, message, ("words",)),
    )


@given(trajectories())
def test_turns_have_the_speaker_the_weight_and_the_object_that_they_were_read_from(
    raw: Turns,
) -> None:
    _, turns = read_turns(raw)
    assert [NAMES[turn.role] for turn in turns] == [speaker_of(each) for each in raw]
    assert [turn.tokens(count) for turn in turns] == [weight_of(each) for each in raw]
    assert all(turn.raw is each for turn, each in zip(turns, raw, strict=True))


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, ("bash", '{"a": 1}')),
        ({"role": "assistant", "tool_calls": [CALL, CALL]}, ("bash", '{"a": 1}') * 2),
        (
            {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
            ("", "f", "{}"),
        ),
        (
            {"role": "assistant", "content": "a", "reasoning_content": "b", "thinking": "c"},
            ("a", "b", "c"),
        ),
        ({"role": "assistant", "content": "a", "reasoning": {"effort": "high"}}, ("a",)),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, "odd", 5]}, ("odd", "a")),
        ({"role": "user", "content": []}, ()),
        ({"role": "user", "content": None}, ()),
        ({"role": "user", "content": [{"type": "text", "value": "a"}]}, ("a",)),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "value": "why"},
                    {"type": "tool_call", "value": '{"name": "f", "arguments": {}}'},
                ],
            },
            ("why", '{"name": "f", "arguments": {}}'),
        ),
        ({"role": "assistant", "content": "a", "tool_calls": "none"}, ("a",)),
        ({"role": "assistant", "content": "a", "tool_calls": [None, {}]}, ("a",)),
    ],
)
def test_words_reasoning_and_calls_of_a_message_count(
    message: dict[str, object], texts: tuple[str, ...]
) -> None:
    (turn,) = read(message)
    assert turn.texts == texts
    assert turn.pictures == 0


def test_a_picture_has_a_price_and_its_bytes_are_not_words() -> None:
    url = {"url": "data:image/png;base64," + "A" * 9_000}
    (turn,) = read(
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": url},
                {"type": "text", "text": "see"},
                {"type": "input_image", "image_url": url["url"]},
            ],
        }
    )
    assert turn.tokens(len) == 2 * IMAGE_TOKENS + 3


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ("words", "trajectory: turn 1: expected an object, found text"),
        (None, "trajectory: turn 1: expected an object, found null"),
        (["a"], "trajectory: turn 1: expected an object, found a list"),
        ({}, "openai: turn 1: unknown role None"),
        ({"role": "narrator", "content": "x"}, "openai: turn 1: unknown role 'narrator'"),
        ({"role": ["user"], "content": "x"}, r"openai: turn 1: unknown role \['user'\]"),
        ({"role": "user", "content": 5}, "turn 1: expected text or a list of parts, found a num"),
        ({"role": "user", "content": {}}, "turn 1: expected text or a list of parts, found an ob"),
        ({"from": "nobody", "value": "x"}, "sharegpt: turn 1: unknown speaker 'nobody'"),
        ({"from": None, "value": "x"}, "sharegpt: turn 1: unknown speaker None"),
        ({"from": "gpt"}, "sharegpt: turn 1: expected text, found null"),
        ({"from": "gpt", "value": ["x"]}, "sharegpt: turn 1: expected text, found a list"),
        ({"from": "gpt", "value": True}, "sharegpt: turn 1: expected text, found true or false"),
    ],
)
def test_a_turn_that_cannot_be_read_is_named(turn: object, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        read_turns([{"from": "human", "value": "x"}, turn])


@pytest.mark.parametrize(
    ("name", "turn"),
    [
        ("sharegpt", {"from": "human", "value": "SUM"}),
        ("openai", {"role": "user", "content": "SUM"}),
        ("parts", {"role": "user", "content": [{"type": "text", "value": "SUM"}]}),
    ],
)
def test_a_human_turn_is_written_as_the_others_are(name: str, turn: dict[str, object]) -> None:
    shape, turns = read_turns(SHAPES[name](long_story(2)))
    assert shape is Shape(name)
    assert spoken(shape, "SUM", turns) == turn


def test_a_human_turn_has_the_name_that_humans_have_in_the_trajectory() -> None:
    shape, turns = read_turns([{"from": "gpt", "value": "x"}, {"from": "user", "value": "y"}])
    assert spoken(shape, "SUM", turns) == {"from": "user", "value": "SUM"}
    assert spoken(shape, "SUM", turns[:1]) == {"from": "human", "value": "SUM"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"from": "system", "value": "a", "x": 1}, {"from": "system", "value": "a+b", "x": 1}),
        ({"role": "system", "content": "a"}, {"role": "system", "content": "a+b"}),
        (
            {"role": "system", "content": [{"type": "text", "text": "a"}]},
            {
                "role": "system",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "+b"}],
            },
        ),
        (
            {"role": "system", "content": [{"type": "text", "value": "a"}]},
            {
                "role": "system",
                "content": [{"type": "text", "value": "a"}, {"type": "text", "value": "+b"}],
            },
        ),
        (
            {"role": "system", "content": None},
            {"role": "system", "content": [{"type": "text", "text": "+b"}]},
        ),
    ],
)
def test_words_are_added_at_the_end_of_a_turn(
    before: dict[str, object], after: dict[str, object]
) -> None:
    (turn,) = read(before)
    longer = added(turn, "+b")
    assert longer.raw == after
    assert longer == read(after)[0]
    assert turn.raw == before


def test_only_a_turn_with_a_secret_becomes_another_object() -> None:
    secret = SECRETS["github"]
    turns = read(
        {"from": "human", "value": "nothing here"},
        {"from": "gpt", "value": f"the token is {secret}", "id": 5},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
    )
    masked = redacted(turns, Redactor().redact)
    assert [one is other for one, other in zip(turns, masked, strict=True)] == [True, False, True]
    hidden = f"the token is ghp_...{secret[-4:]}"
    assert masked[1] == TrajectoryTurn(
        Role.ASSISTANT, {"from": "gpt", "value": hidden, "id": 5}, (hidden,)
    )
