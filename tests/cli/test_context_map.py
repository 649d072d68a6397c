"""The map is to scale: every column stands for as many tokens as any other."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.inspect import MapScale, conversation_strip, fold_strip, legend, window_bar
from holdfast.cli.screen import plain
from holdfast.tokens import Scale
from holdfast.transcript import Media, Message, Role, Text, ToolCall, ToolResult
from holdfast.views.context_map import ContentKind, context_map

WORDS = Message(Role.USER, (Text("word " * 1_000),))
REPLY = Message(Role.ASSISTANT, (Text("word " * 1_000),))


@given(st.lists(st.integers(0, 400), max_size=12), st.integers(40, 200), st.integers(1_000, 9_000))
def test_bars_fill_their_frame_exactly(sizes: list[int], width: int, window: int) -> None:
    messages = tuple(
        Message(list(Role)[index % 3], (Text("word " * size),)) for index, size in enumerate(sizes)
    )
    usage = context_map(messages, Scale())
    scale = MapScale(window=window, threshold=window // 2, width=width)
    bar = plain(window_bar(usage, scale)[:1])
    assert len(bar) == width - 1
    if messages:
        assert len(plain([conversation_strip(usage, scale)])) == width - 1
        assert len(plain([fold_strip(usage, frozenset({0}), scale)])) == width - 1


def test_half_a_window_is_half_a_bar() -> None:
    usage = context_map((WORDS, REPLY), Scale())
    scale = MapScale(window=2 * usage.tokens, threshold=usage.tokens, width=84)
    bar, pointer = plain(window_bar(usage, scale)).split("\n")
    assert bar == f" [{'U' * 20}{'A' * 20}{'.' * 40}]"
    assert pointer == " " * 42 + f"^ threshold {usage.tokens:,}"


def test_what_is_over_the_window_says_where_the_window_ends() -> None:
    usage = context_map((WORDS, REPLY), Scale())
    scale = MapScale(window=usage.tokens // 2, threshold=usage.tokens // 4, width=84)
    assert f"window {scale.window:,}" in plain(window_bar(usage, scale))


def test_the_strip_follows_the_conversation() -> None:
    usage = context_map((WORDS, REPLY, WORDS, REPLY), Scale())
    scale = MapScale(window=9_999, threshold=5_000, width=44)
    runs = plain([conversation_strip(usage, scale)])
    assert runs == f" [{'U' * 10}{'A' * 10}{'U' * 10}{'A' * 10}]"
    folded = plain([fold_strip(usage, frozenset({0, 1}), scale)])
    assert folded == f" [{'-' * 20}{'=' * 20}]"


def test_images_count_wherever_they_are() -> None:
    result = ToolResult("c", (Text("seen"), Media()))
    message = Message(Role.ASSISTANT, (ToolCall("c", "look"),))
    usage = context_map((message, Message(Role.TOOL, (result,))), Scale())
    assert usage.kinds[ContentKind.IMAGES] == 1_500
    assert sum(usage.kinds.values()) == usage.tokens
    assert [kind for kind in usage.kinds if kind is not ContentKind.ASSISTANT] == [
        ContentKind.CALLS,
        ContentKind.RESULTS,
        ContentKind.IMAGES,
    ]
    assert len(legend(usage, MapScale(9_999, 5_000, 80))) == len(usage.kinds)
