"""What messages weigh, in tokens, bytes and images."""

from holdfast.testing.builders import assistant, call, tool, user
from holdfast.tokens import IMAGE_TOKENS, Load, Scale, load_of
from holdfast.transcript import Media, Message, Opaque, Role, Summary, Text, Thinking, ToolResult


class CountingWords:
    """Counts words, and how often it was asked."""

    name = "words"

    def __init__(self) -> None:
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return len(text.split())


def test_base64_is_never_counted_as_text() -> None:
    picture = Media(media_type="image/png", data="A" * 1_000_000)
    shown = Message(Role.USER, (Text("look"), picture))
    inside = Message(Role.TOOL, (ToolResult("a", (picture,)),))
    scale = Scale()
    assert scale.weigh(shown) < IMAGE_TOKENS + 20
    assert scale.weigh(inside) < IMAGE_TOKENS + 20


def test_names_and_arguments_of_calls_count() -> None:
    scale = Scale(CountingWords())
    bare = scale.weigh(assistant("one two"))
    calling = scale.weigh(assistant("one two", call("a", "bash", "three four five")))
    assert calling - bare >= 3 + len("bash") // 4


def test_a_message_is_weighed_once() -> None:
    counter = CountingWords()
    scale = Scale(counter)
    message = user("some words")
    assert scale.weigh(message) == scale.weigh(message) == scale.total([message])
    assert counter.asked == 1


def test_weights_of_folded_messages_can_be_forgotten() -> None:
    counter = CountingWords()
    scale = Scale(counter)
    kept, folded = user("kept"), user("folded")
    scale.total([kept, folded])
    scale.keep_only([kept])
    scale.total([kept, folded])
    assert counter.asked == 3


def test_words_of_a_weighed_message_are_not_counted_again() -> None:
    counter = CountingWords()
    scale = Scale(counter, ratio=2.0)
    words = "three whole words"
    scale.weigh(user(words))
    assert (scale.text(words), counter.asked) == (6, 1)
    scale.keep_only(())
    assert (scale.text(words), counter.asked) == (6, 2)


def test_a_scale_at_another_ratio_knows_what_was_weighed() -> None:
    counter = CountingWords()
    scale = Scale(counter, image_tokens=100)
    message = Message(Role.USER, (Text("one two"), Media()))
    weight = scale.weigh(message)
    doubled = scale.at(2.0)
    assert (doubled.weigh(message), counter.asked) == (2 * weight, 1)
    assert doubled.weigh(Message(Role.USER, (Media(),))) == 2 * (weight - 2)


def test_what_a_scale_at_another_ratio_weighs_is_its_own_to_remember() -> None:
    counter = CountingWords()
    scale = Scale(counter)
    message = user("some words")
    scale.at(2.0).weigh(message)
    scale.weigh(message)
    assert counter.asked == 2


def test_calibration_scales_words_and_messages() -> None:
    doubled = Scale(CountingWords(), ratio=2.0)
    assert doubled.text("one two three") == 6
    assert doubled.weigh(user("one two")) == 2 * Scale(CountingWords()).weigh(user("one two"))


def test_sealed_reasoning_and_opaque_items_have_a_weight() -> None:
    scale = Scale()
    sealed = scale.weigh(Message(Role.ASSISTANT, (Thinking(signature="x" * 5_000),)))
    opaque = scale.weigh(Message(Role.ASSISTANT, (Opaque("responses", {"v": "x" * 5_000}),)))
    assert 900 < sealed < 1_100
    assert 900 < opaque < 1_100


def test_the_load_has_three_currencies() -> None:
    picture = Media(data="A" * 900)
    messages = [
        Message(Role.USER, (Text("héllo"), picture)),
        Message(Role.TOOL, (ToolResult("a", (Text("x"), picture)),)),
        assistant("", call("a", "bash", "{}")),
        Message(Role.ASSISTANT, (Thinking("t", "s"), Summary("m"), Opaque("x", {"a": 1}))),
    ]
    load = load_of(messages, Scale())
    assert load.images == 2
    assert 1_800 < load.bytes < 3_000
    assert load.tokens > 2 * IMAGE_TOKENS
    assert load + Load(1, 2, 3) == Load(load.tokens + 1, load.bytes + 2, load.images + 3)


def test_a_tool_result_weighs_its_words() -> None:
    scale = Scale(CountingWords())
    assert scale.weigh(tool("a", "one two three")) > scale.weigh(tool("a", "one"))
