"""A request in blocks: what counts as one, how it is known again, what it weighs."""

from typing import Any

import pytest

from holdfast.caching import BlockReader, CacheBlock, Sent, mark, weigh_block
from holdfast.caching.blocks import BlockKind
from holdfast.tokens import IMAGE_TOKENS
from holdfast.wire import Body
from tests.caching.requests import BASH, MODEL, Letters


def blocks(body: Body, **fields: Any) -> tuple[CacheBlock, ...]:
    given: dict[str, Any] = {"model": MODEL, "dialect": "anthropic", **fields}
    return BlockReader(Letters()).read(Sent(body=body, **given))


def test_tools_come_first_then_the_system_prompt_then_messages() -> None:
    body = Body([{"role": "user", "content": "Hello"}], "Be brief.")
    assert [(each.name, each.kind) for each in blocks(body, tools=(BASH,))] == [
        ("tool bash", BlockKind.TOOL),
        ("the system prompt", BlockKind.SYSTEM),
        ("message 1 (user)", BlockKind.MESSAGE),
    ]
    openai = Body([{"role": "system", "content": "Be brief."}, *body.messages])
    assert [(each.name, each.kind) for each in blocks(openai, dialect="openai", tools=(BASH,))] == [
        ("tool bash", BlockKind.TOOL),
        ("the system prompt", BlockKind.SYSTEM),
        ("message 2 (user)", BlockKind.MESSAGE),
    ]
    assert blocks(body, dialect="gemini", tools=(BASH,))[0].name == "tool declarations"


def test_a_marker_changes_no_digest_and_no_weight() -> None:
    body = Body(
        [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "tool", "tool_call_id": "a", "content": "12 passed"},
        ],
        "Be brief.",
    )
    plain, marked = blocks(body), blocks(mark(body, ttl="1h"))
    assert [(each.digest, each.tokens) for each in plain] == [
        (each.digest, each.tokens) for each in marked
    ]
    assert [each.ttl for each in plain] == [None] * 4
    assert [each.ttl for each in marked] == ["1h"] * 4


def test_calls_of_openai_are_a_block_each_and_unknown_fields_one_more() -> None:
    message: Any = {
        "role": "assistant",
        "content": "Hm",
        "tool_calls": [{"id": 1}, {"id": 2}],
        "x": 1,
    }
    assert len(blocks(Body([message]))) == 4
    assert len(blocks(Body([{"role": "user", "content": None}]))) == 1
    assert len(blocks(Body([{"role": "user", "content": ["odd"]}]))) == 1


def test_the_order_of_keys_is_part_of_the_bytes() -> None:
    one, other = (
        blocks(Body([{"role": "assistant", "content": [{"type": "tool_use", "input": each}]}]))
        for each in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    )
    assert one[0].digest != other[0].digest


def test_the_same_words_of_another_role_are_another_block() -> None:
    one, other = blocks(Body([{"role": each, "content": "Hi"} for each in ("user", "assistant")]))
    assert one.digest != other.digest


def test_a_message_that_was_changed_in_place_is_read_again() -> None:
    reader = BlockReader(Letters())
    message: dict[str, object] = {"role": "user", "content": "Hello"}
    request = Sent(model=MODEL, dialect="anthropic", body=Body([message]))
    before = reader.read(request)
    message["content"] = "Hullo"
    assert reader.read(request)[0].digest != before[0].digest


@pytest.mark.parametrize("other", [{"b": 2, "a": 1}, {"a": True, "b": 2}, {"a": 1.0, "b": 2}])
def test_a_reader_is_not_taken_in_by_values_that_only_python_calls_equal(other: Any) -> None:
    reader = BlockReader(Letters())
    digests = {
        reader.read(Sent(model=MODEL, dialect="anthropic", body=Body([{"content": [each]}])))[0]
        for each in ({"a": 1, "b": 2}, other)
    }
    assert len(digests) == 2


def test_what_the_last_request_had_is_not_weighed_again() -> None:
    reader = BlockReader(Letters())
    body = Body([{"role": "user", "content": "Hello"}], "Be brief.")
    first = reader.read(Sent(model=MODEL, dialect="anthropic", body=body))
    grown = Body([*body.messages, {"role": "assistant", "content": "Hi"}], "Be brief.")
    second = reader.read(Sent(model=MODEL, dialect="anthropic", body=grown))
    assert [one is other for one, other in zip(first, second, strict=False)] == [True, True]


def test_weights_are_words_and_a_flat_price_for_media() -> None:
    picture = {"type": "image", "source": {"data": "A" * 9_000}}
    answer = {"type": "tool_result", "content": [{"type": "text", "text": "word" * 5}, picture]}
    assert weigh_block({"type": "text", "text": "word" * 5}, Letters()) == 4 + 5
    assert weigh_block(picture, Letters()) == IMAGE_TOKENS
    assert weigh_block(answer, Letters()) == 4 + 4 + 5 + IMAGE_TOKENS
    assert weigh_block({"type": "tool_result", "content": "word"}, Letters()) == 4 + 10
