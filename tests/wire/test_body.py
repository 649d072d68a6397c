"""What did not change goes out as it came in."""

from holdfast.wire import with_originals

Chat = dict[str, object]


def test_equal_messages_at_both_ends_are_the_callers_own() -> None:
    first: Chat = {"role": "system", "content": "s"}
    last: Chat = {"content": "bye", "role": "user"}
    summary: Chat = {"role": "user", "content": "summary"}
    written: list[Chat] = [{"content": "s", "role": "system"}, summary, dict(last)]
    result = with_originals(written, [first, {"role": "user", "content": "long"}, {"a": 1}, last])
    assert result[0] is first
    assert result[1] is summary
    assert result[2] is last


def test_nothing_is_taken_where_everything_changed() -> None:
    assert with_originals([{"a": 1}], [{"a": 2}]) == [{"a": 1}]
    assert with_originals([], [{"a": 2}]) == []


def test_an_unchanged_conversation_is_the_callers_own_throughout() -> None:
    originals: list[Chat] = [{"b": 1, "a": 2}, {"c": 3}]
    result = with_originals([{"a": 2, "b": 1}, {"c": 3}], originals)
    assert all(new is old for new, old in zip(result, originals, strict=True))
