"""What a compaction leaves alone is kept by reference; what it rewrites says what it stands for."""

from msgspec.structs import replace

from holdfast.conversation.passes import pieces_of
from holdfast.session import Draft, Entry, Kind
from holdfast.testing.builders import assistant, call, system, tool, user
from holdfast.transcript import Message, Role, Summary, Synthetic, Text, ToolResult


def entries(*messages: Message) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            id=100 + number,
            session="s",
            position=number,
            kind=Kind.SAID,
            message=message,
            at=0,
            tokens=1,
        )
        for number, message in enumerate(messages, 1)
    )


def test_the_same_objects_stay_by_reference_and_the_summary_stands_for_nothing() -> None:
    known = entries(system("Be careful."), user("Old"), user("New"))
    summary = Message(Role.USER, (Summary("record"),), synthetic=Synthetic.SUMMARY)
    result = (known[0].message, summary, known[2].message)
    assert pieces_of(known, result, at=7) == (known[0], Draft(message=summary, at=7), known[2])


def test_a_rewritten_message_stands_for_the_one_it_was() -> None:
    known = entries(
        system("Be careful."), assistant("", call("c1", "bash", '{"a": "long"}')), tool("c1", "x")
    )
    noted = system("Be careful.\n\n[note]")
    shorter = assistant("", call("c1", "bash", "{}"))
    pruned = replace(known[2].message, parts=(ToolResult("c1", (Text("[one line]"),)),))
    stands = [piece.stands_for for piece in pieces_of(known, (noted, shorter, pruned), at=7)]
    assert stands == [101, 102, 103]


def test_a_summary_merged_into_a_users_message_stands_for_that_message() -> None:
    known = entries(user("Old"), user("New"))
    merged = replace(known[1].message, parts=(Summary("record"), *known[1].message.parts))
    assert pieces_of(known, (merged,), at=7) == (Draft(message=merged, at=7, stands_for=102),)
