"""Assembly: roles alternate at the joints, and the system note is added once."""

import pytest
from msgspec.structs import replace

from holdfast.compaction.fold import assemble, with_note
from holdfast.compaction.plan import SYSTEM_NOTE
from holdfast.testing.builders import assistant, call, system, tool, user
from holdfast.transcript import Message, Role, Summary, Synthetic, Text, Thinking, shape


def roles(*messages: Message) -> list[str]:
    return [f"{message.role}{'*' if message.summary else ''}" for message in messages]


def test_a_summary_after_the_system_prompt_shares_the_turn_of_the_user_who_follows() -> None:
    window = assemble((system("s"),), "SUM", (user("task"),), (assistant("go"),))
    assert shape(window, 80) == "\n".join(
        [
            f"00 system    {('s ' + SYSTEM_NOTE)[:79]}…",
            "01 user      [summary] SUM | task",
            "02 assistant go",
        ]
    )


def test_a_summary_between_assistant_messages_is_a_user_message() -> None:
    window = assemble((user("u"), assistant("a")), "SUM", (), (assistant("b"), user("c")))
    assert roles(*window) == ["user", "assistant", "user*", "assistant", "user"]
    assert window[2] == Message(Role.USER, (Summary("SUM"),), synthetic=Synthetic.SUMMARY)


def test_between_two_user_messages_the_summary_is_an_assistant_message() -> None:
    window = assemble((user("u"),), "SUM", (), (user("c"),))
    assert roles(*window) == ["user", "assistant*", "user"]


def test_when_both_roles_collide_the_summary_goes_into_the_first_tail_message() -> None:
    window = assemble((user("u"),), "SUM", (), (assistant("a", call("x")), tool("x")))
    assert roles(*window) == ["user", "assistant*", "tool"]


@pytest.mark.parametrize(
    "reasoning", [Thinking("t", "s"), Thinking("t", extras={"responses": {"type": "reasoning"}})]
)
def test_before_an_assistant_with_reasoning_the_summary_precedes_the_users_words(
    reasoning: Thinking,
) -> None:
    thinking = Message(Role.ASSISTANT, (reasoning, Text("a")))
    window = assemble((system("s"), user("u")), "SUM", (), (thinking,))
    assert window[1:] == (replace(user("u"), parts=(Summary("SUM"), Text("u"))), thinking)


def test_after_a_tool_result_the_summary_is_a_user_message() -> None:
    window = assemble((assistant("", call("x")), tool("x")), "SUM", (), (assistant("a"),))
    assert roles(*window) == ["assistant", "tool", "user*", "assistant"]


def test_kept_user_messages_that_became_neighbors_are_merged_and_the_tail_is_not() -> None:
    window = assemble((), "", (user("a"), user("b")), (user("c"), user("d")))
    assert window == (user("a\n\nb\n\nc"), user("d"))


def test_the_note_is_added_once_and_at_the_end() -> None:
    noted = with_note(system("s"))
    assert noted.text == f"s\n\n{SYSTEM_NOTE}"
    assert with_note(noted) is noted
    blocks = Message(Role.SYSTEM, (Text("a"), Text("b")), form="parts")
    assert with_note(blocks).parts == (Text("a"), Text("b"), Text(SYSTEM_NOTE))
    assert with_note(Message(Role.SYSTEM)).parts == (Text(SYSTEM_NOTE),)
