"""Pruning: stale tool output goes first, and the result always parses."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction import PassContext
from holdfast.compaction.prune import (
    LONG,
    Shortened,
    prune,
    truncate,
    without_old_media,
)
from holdfast.compaction.report import PrunedCounts
from holdfast.testing.builders import assistant, call, step, tool, user
from holdfast.tokens import Scale
from holdfast.transcript import Media, Message, Role, Text, ToolCall, ToolResult

LONG_TEXT = "\n".join(f"line {number} of the listing" for number in range(40))

CONTEXT = PassContext(Scale(), str)
HUGE = "\n".join(f"{number}: the build printed another line" for number in range(2_000))


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [result.text for message in messages for result in message.results]


def test_a_long_result_becomes_one_informative_line() -> None:
    pruned = prune(step("a", "make build", LONG_TEXT), CONTEXT, protected=2)
    assert texts(pruned.transcript) == ["[bash: make build (40 lines)]"]
    assert pruned.counts == PrunedCounts(summarised=1)


def test_identical_results_keep_only_their_newest_copy() -> None:
    transcript = (*step("a", "cat f", LONG_TEXT), *step("b", "cat f", LONG_TEXT), user("next"))
    pruned = prune(transcript, CONTEXT, protected=2)
    assert texts(pruned.transcript) == [
        "[bash: cat f - same output as a later call, shown there]",
        LONG_TEXT,
    ]
    assert pruned.counts == PrunedCounts(deduplicated=1)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
def test_results_that_differ_only_in_their_middle_are_not_taken_for_copies(
    middles: list[str],
) -> None:
    outputs = ["x" * LONG + middle + "x" * LONG for middle in middles]
    steps = (step(str(at), "ls", output) for at, output in enumerate(outputs))
    transcript = tuple(message for messages in steps for message in messages)
    pruned = prune(transcript, CONTEXT, protected=len(transcript))
    copies = len(middles) - len(set(middles))
    assert (pruned.counts.deduplicated, pruned.counts.summarised) == (copies, len(set(middles)))


def test_the_protected_tail_and_short_results_stay_as_they_are() -> None:
    transcript = (*step("a", "ls", "short"), *step("b", "ls", LONG_TEXT))
    assert prune(transcript, CONTEXT, protected=2).transcript == transcript
    assert prune(transcript, CONTEXT, protected=2).transcript[0] is transcript[0]


def test_pinned_messages_are_not_pruned() -> None:
    pinned = Message(Role.TOOL, (ToolResult("a", (Text(LONG_TEXT),)),), pinned=True)
    transcript = (assistant("", call("a")), pinned)
    assert prune(transcript, CONTEXT, protected=2).transcript == transcript


def test_what_recall_brought_back_is_exempt() -> None:
    transcript = (assistant("", call("a", "session_search")), tool("a", LONG_TEXT))
    assert prune(transcript, CONTEXT, protected=2).transcript == transcript


def test_a_result_without_its_call_is_described_by_its_own_name() -> None:
    orphan = Message(Role.TOOL, (ToolResult("a", (Text("x" * 300),), name="scan"),))
    assert texts(prune((orphan,), CONTEXT, protected=1).transcript) == ["[scan (300 characters)]"]


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=400),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_shrunk_arguments_parse_and_keep_everything_but_long_strings(value: object) -> None:
    arguments = json.dumps({"value": value, "long": "x" * 500})
    message = assistant("", ToolCall("a", "write", arguments))
    (shorter,) = prune((message,), CONTEXT, protected=1).transcript[0].calls
    read = json.loads(shorter.arguments)
    assert len(read["long"]) < LONG
    assert skeleton(read["value"]) == skeleton(value)


def skeleton(value: object) -> object:
    match value:
        case str():
            is_cut = len(value) > LONG or value.endswith("characters more]")
            return "long" if is_cut else value
        case dict():
            return {key: skeleton(item) for key, item in value.items()}
        case list():
            return [skeleton(item) for item in value]
        case _:
            return value


def test_arguments_that_are_not_json_pass_unchanged() -> None:
    message = assistant("", ToolCall("a", "write", "*** Begin Patch " + "x" * 400))
    assert prune((message,), CONTEXT, protected=1).transcript == (message,)


def test_messages_that_will_be_folded_are_neither_rewritten_nor_counted() -> None:
    transcript = (*step("a", "make", LONG_TEXT), *step("b", "make", LONG_TEXT + "!"))
    pruned = prune(transcript, CONTEXT, protected=4, only={3})
    assert pruned.counts == PrunedCounts(summarised=1)
    assert pruned.transcript[:3] == transcript[:3]
    assert texts(pruned.transcript)[1] == "[bash: make (40 lines)]"


def test_historical_media_becomes_a_placeholder() -> None:
    picture = Media(media_type="image/png", data="A" * 4096)
    old = Message(Role.USER, (Text("look"), picture))
    shot = Message(Role.TOOL, (ToolResult("a", (Text("shot"), picture)),))
    new = Message(Role.USER, (Text("and this"), picture))
    transcript = (old, assistant("", call("a")), shot, new, assistant("ok"))
    pruned = without_old_media(transcript)
    assert pruned.count == 2
    assert pruned.messages == (
        Message(Role.USER, (Text("look"), Text("[image image/png, 4 kB: not in the window]"))),
        transcript[1],
        Message(
            Role.TOOL,
            (ToolResult("a", (Text("shot"), Text("[image image/png, 4 kB: not in the window]"))),),
        ),
        new,
        transcript[4],
    )


def test_what_tools_showed_last_in_the_running_turn_stays() -> None:
    def shot(id_: str, piece: Media | Text) -> Message:
        return Message(Role.TOOL, (ToolResult(id_, (piece,)),))

    picture = Media(data="A")
    gone = Text("[image of an earlier turn, 1 kB: not in the window]")
    calls = (assistant("", call("a")), assistant("", call("b"), call("c")))
    transcript = (
        user("go"),
        calls[0],
        shot("a", picture),
        calls[1],
        shot("b", picture),
        shot("c", picture),
        assistant("hm"),
    )
    assert without_old_media(transcript).messages == (
        user("go"),
        calls[0],
        shot("a", gone),
        calls[1],
        shot("b", picture),
        shot("c", picture),
        assistant("hm"),
    )


def test_pinned_messages_keep_their_media() -> None:
    pinned = Message(Role.USER, (Text("the design"), Media(data="A")), pinned=True)
    newer = Message(Role.USER, (Text("another"), Media(data="B")))
    assert without_old_media((pinned, newer)) == Shortened((pinned, newer), 0)


def test_what_fits_is_left_alone() -> None:
    messages = (user("hi"), tool("a", "short"))
    assert truncate(messages, 1_000, CONTEXT) == Shortened(messages, 0)


def test_the_heaviest_result_is_cut_in_the_middle_until_it_fits() -> None:
    messages = (user("words " * 50), tool("a", HUGE), tool("b", "small"))
    cropped = truncate(messages, 2_000, CONTEXT)
    assert cropped.count == 1
    assert CONTEXT.scale.total(cropped.messages) <= 2_000
    text = cropped.messages[1].results[0].text
    assert text.startswith("0: the build")
    assert text.endswith("1999: the build printed another line")
    assert "characters left out here" in text
    assert cropped.messages[0] is messages[0]
    assert cropped.messages[2] is messages[2]


def test_several_results_give_way_one_after_the_other() -> None:
    messages = (tool("a", HUGE), tool("b", HUGE))
    cropped = truncate(messages, 600, CONTEXT)
    assert cropped.count == 2
    assert CONTEXT.scale.total(cropped.messages) <= 600


def test_words_of_users_and_of_the_model_are_never_truncated() -> None:
    messages = (user(HUGE), assistant(HUGE))
    assert truncate(messages, 100, CONTEXT) == Shortened(messages, 0)


def test_a_result_that_cannot_be_small_enough_says_what_was_left_out() -> None:
    cropped = truncate((user(HUGE), tool("a", "x" * 400 + " 1 2 3" * 40)), 10, CONTEXT)
    assert "left out here" in cropped.messages[1].results[0].text


def test_words_beside_a_result_in_one_message_stay() -> None:
    mixed = Message(Role.TOOL, (ToolResult("a", (Text(HUGE),)), Text("and these words")))
    (cropped,) = truncate((mixed,), 500, CONTEXT).messages
    assert cropped.parts[1] == Text("and these words")
    assert CONTEXT.scale.weigh(cropped) <= 500


def test_what_stands_for_a_picture_in_a_result_that_is_cut_stays() -> None:
    picture = Text("[image image/png, 3 bytes: not in the window]")
    result = ToolResult("c", (Text("line\n" * 5_000), picture))
    (cut,) = truncate([Message(Role.TOOL, (result,))], 10, CONTEXT).messages
    assert cut.results[0].content[1:] == (picture,)
    assert len(cut.results[0].text) < 1_000


def test_what_was_pruned_stays_as_it_is_also_where_a_picture_went() -> None:
    # What stands for a picture is text, and made the line before it long again.
    picture = Media(media_type="image/png", data="QUJD" * 100)
    command = "cat " + "a" * 180
    result = Message(Role.TOOL, (ToolResult("a", (Text(LONG_TEXT), picture)),))
    seen = (assistant("", call("a", "bash", json.dumps({"command": command}))), result)
    transcript = (*seen, Message(Role.USER, (Text("and this"), picture)))
    once = prune(transcript, CONTEXT, protected=2)
    for end in range(3):
        assert once.until(end) == prune(transcript, CONTEXT, protected=end)
    assert prune(once.transcript, CONTEXT, protected=2).transcript == once.transcript
    assert once.counts == PrunedCounts(summarised=1, media=1)
