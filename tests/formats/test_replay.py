"""Playing a file again gives the conversation that its model had, whoever divided it and how."""

from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
    native_of,
)
from holdfast.formats.replay import merged, replay
from holdfast.session import Fork, Usage
from holdfast.transcript import (
    Message,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Transcript,
    shape,
)


def told(key: str, message: Message, *, strand: str = MAIN, reply: str = "") -> MessageEvent:
    return MessageEvent(
        strand=strand, line=1, key=key, message=message, native=SourceMetadata(reply=reply)
    )


def user(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


def model(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


def call(id_: str) -> Message:
    return Message(Role.ASSISTANT, (ToolCall(id_, "run"),))


def result(id_: str) -> Message:
    return Message(Role.TOOL, (ToolResult(id_, (Text(f"ran {id_}"),)),))


def summary(text: str) -> Message:
    return Message(Role.USER, (Summary(text, "pi"),), synthetic=Synthetic.SUMMARY)


def begun(strand: str = MAIN, about: About | None = None) -> StrandStarted:
    return StrandStarted(strand=strand, line=1, about=about or About())


def only(*events: Event) -> Transcript:
    (found,) = replay(events)
    return found.transcript


def test_the_pieces_of_one_answer_become_one_message() -> None:
    thought = Message(Role.ASSISTANT, (Thinking("hm", "sealed"),))
    transcript = only(
        begun(),
        told("1", user("Go")),
        told("2", thought, reply="m1"),
        told("3", model("I look."), reply="m1"),
        told("4", call("a"), reply="m1"),
        told("5", result("a")),
        told("6", call("b"), reply="m1"),
        told("7", result("b")),
        told("8", model("Done."), reply="m2"),
    )
    assert shape(transcript) == "\n".join(
        [
            "00 user      Go",
            "01 assistant (thinking) | I look. | -> run {} | -> run {}",
            "02 tool      result: ran a",
            "03 tool      result: ran b",
            "04 assistant Done.",
        ]
    )


def test_answers_on_two_sides_of_the_user_are_two_whatever_their_id() -> None:
    transcript = only(
        told("1", model("One"), reply="m1"),
        told("2", user("No")),
        told("3", model("Two"), reply="m1"),
    )
    assert shape(transcript) == "00 assistant One\n01 user      No\n02 assistant Two"


def test_a_compaction_shows_its_summary_and_what_it_kept() -> None:
    events = (
        begun(),
        told("1", user("First")),
        told("2", model("Yes")),
        told("3", user("Second")),
        told("s", summary("It began.")),
        CompactionEvent(strand=MAIN, line=4, id="f", shows=("s", "3")),
        told("4", model("Third")),
    )
    (found,) = replay(events)
    assert shape(found.window) == "\n".join(
        ["00 user      [summary] It began.", "01 user      Second", "02 assistant Third"]
    )
    assert shape(found.transcript) == "\n".join(
        [
            "00 user      First",
            "01 assistant Yes",
            "02 user      [summary] It began.",
            "03 user      Second",
            "04 assistant Third",
        ]
    )


def test_what_a_compaction_shows_and_nobody_told_is_passed_over() -> None:
    (found,) = replay(
        (
            told("1", user("First")),
            told("s", summary("So far.")),
            CompactionEvent(strand=MAIN, line=2, id="f", shows=("gone", "s", "1")),
        )
    )
    assert [each.text or "summary" for each in found.window] == ["summary", "First"]


def test_what_was_taken_back_is_not_shown() -> None:
    (found,) = replay(
        (
            told("1", user("First")),
            told("2", user("Typo")),
            RewindEvent(strand=MAIN, line=3, shows=("1",)),
            told("3", user("Second")),
        )
    )
    assert [each.text for each in found.window] == ["First", "Second"]
    assert [each.text for each in found.transcript] == ["First", "Typo", "Second"]


def branch(strand: str, after: str, of: str = MAIN) -> StrandStarted:
    return StrandStarted(strand=strand, line=9, about=About(), of=of, fork=Fork.BRANCH, after=after)


def test_the_newest_branch_is_the_conversation() -> None:
    (found,) = replay(
        (
            begun(about=About(title="Both")),
            told("1", user("First")),
            told("2", model("Wrong")),
            branch("3", "1"),
            told("3", model("Right"), strand="3"),
        )
    )
    assert [each.text for each in found.transcript] == ["First", "Right"]
    assert found.about.title == "Both"


def test_going_on_in_the_older_branch_makes_it_the_conversation_again() -> None:
    (found,) = replay(
        (
            begun(),
            told("1", user("First")),
            branch("2", "1"),
            told("2", model("Aside"), strand="2"),
            told("3", model("Main")),
        )
    )
    assert [each.text for each in found.window] == ["First", "Main"]


def test_a_branch_from_before_a_compaction_sees_what_stood_there() -> None:
    (found,) = replay(
        (
            begun(),
            told("1", user("First")),
            told("2", model("Second")),
            told("s", summary("All.")),
            CompactionEvent(strand=MAIN, line=4, id="f", shows=("s",)),
            branch("4", "2"),
            told("4", user("Back"), strand="4"),
        )
    )
    assert [each.text for each in found.window] == ["First", "Second", "Back"]


def test_sub_agents_are_conversations_of_their_own_and_not_of_the_file() -> None:
    child = StrandStarted(strand="c", line=2, about=About(), of=MAIN, fork=Fork.DELEGATION)
    (found,) = replay((begun(), told("1", user("Main")), child, told("2", user("Sub"), strand="c")))
    assert [each.text for each in found.transcript] == ["Main"]


def test_a_file_may_hold_several_conversations() -> None:
    first, second = replay(
        (
            begun("", About(id="a")),
            told("1", user("One")),
            begun("1", About(id="b")),
            told("2", user("Two"), strand="1"),
            MetadataUpdated(strand="1", about=About(title="The second")),
            Problem(7, "not JSON"),
        )
    )
    assert (first.about.id, second.about) == ("a", About(id="b", title="The second"))
    assert (first.problems, second.problems) == ((Problem(7, "not JSON"),), ())


def test_knowing_more_replaces_only_what_was_learned() -> None:
    known = About(id="a", model="old", cwd="/work", more={"x": 1})
    more = About(model="young", started=5, more={"y": 2})
    assert merged(known, more) == About(
        id="a", model="young", cwd="/work", started=5, more={"x": 1, "y": 2}
    )


def test_what_the_pieces_of_an_answer_say_of_themselves_stays_with_it() -> None:
    first = MessageEvent(
        strand=MAIN,
        line=1,
        key="1",
        message=Message(Role.ASSISTANT, (Text("One"),), extras={"responses": {"id": "a"}}),
        native=SourceMetadata(id="1", reply="m1", model="some-model"),
    )
    second = MessageEvent(
        strand=MAIN,
        line=2,
        key="2",
        message=Message(Role.ASSISTANT, (Text("Two"),), extras={"anthropic": {"id": "b"}}),
        native=SourceMetadata(id="2", reply="m1", usage=Usage(1, 2, 3), more={"phase": "final"}),
    )
    (message,) = only(first, second)
    assert message.extras.keys() == {"responses", "anthropic", "native"}
    assert native_of(message) == SourceMetadata(
        id="1", reply="m1", model="some-model", usage=Usage(1, 2, 3), more={"phase": "final"}
    )
