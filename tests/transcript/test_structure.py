"""Seams, turns and open calls."""

from holdfast.testing.builders import assistant, call, step, system, tool, user
from holdfast.transcript import (
    Media,
    Message,
    Role,
    Summary,
    Text,
    Thinking,
    exchange_at,
    is_user_word,
    newest_reply,
    newest_user,
    open_calls,
    said_at,
    said_in,
    seams,
    turns,
)


def test_both_ends_of_a_transcript_are_seams() -> None:
    assert seams(()) == (0,)
    assert seams((user("a"), assistant("b"))) == (0, 1, 2)


def test_no_seam_lies_between_parallel_calls_and_any_of_their_results() -> None:
    transcript = (
        user("go"),
        assistant("", call("a"), call("b")),
        tool("a"),
        tool("b"),
        assistant("done"),
    )
    assert seams(transcript) == (0, 1, 4, 5)


def test_a_call_id_that_is_used_again_belongs_to_its_newest_call() -> None:
    transcript = (*step("x"), *step("x"))
    assert seams(transcript) == (0, 2, 4)


def test_a_message_that_only_thinks_stays_with_the_one_it_thought_for() -> None:
    thought = Message(Role.ASSISTANT, (Thinking("hm", "seal"),))
    assert seams((user("a"), thought, assistant("b"), user("c"))) == (0, 1, 3, 4)


def test_an_exchange_is_the_run_between_two_seams() -> None:
    transcript = (user("go"), *step("a"), user("stop"))
    assert exchange_at(transcript, 2) == range(1, 3)
    assert exchange_at(transcript, 0) == range(1)


def test_open_calls_are_those_without_a_result() -> None:
    transcript = (assistant("", call("a"), call("b")), tool("a"))
    assert open_calls(transcript) == {"b": 0}


def test_a_summary_alone_is_not_what_a_user_said() -> None:
    summary = Message(Role.USER, (Summary("before"),))
    merged = Message(Role.USER, (Summary("before"), Text("go on")))
    assert not is_user_word(summary)
    assert is_user_word(merged)
    assert newest_user((user("first"), summary)) == 0
    assert newest_user((system("s"),)) is None


def test_the_newest_reply_is_one_that_a_person_can_read() -> None:
    assert newest_reply((user("a"), assistant("b"), *step("x"))) == 1
    assert newest_reply((user("a"), *step("x"))) is None


def test_what_a_user_said_stands_without_the_reminders_that_an_agent_puts_around_it() -> None:
    reminder = "<system-reminder>\nEnd commit messages with a line of mine.\n</system-reminder>"
    assert said_in(user(f"{reminder}\n\nFix the parser.")) == "Fix the parser."
    assert said_in(user("Fix it.\n")) == "Fix it.\n"
    assert said_in(user(reminder)) == ""


def test_what_opens_a_conversation_is_no_output_although_it_ends_like_one() -> None:
    task = user("Mend the sluice.\n(Current directory: /mill)\nbash-$")
    assert said_in(task, opens=True) == "Mend the sluice."
    assert said_in(task) == ""


def test_a_turn_begins_with_a_user_message() -> None:
    transcript = (system("s"), user("a"), assistant("b"), user("c"))
    assert turns(transcript) == (range(1), range(1, 3), range(3, 4))
    assert turns(()) == ()
    assert turns((user("a"),)) == (range(1),)


def test_what_an_agent_writes_in_a_users_name_is_not_the_newest_word_of_a_user() -> None:
    skill = user("Base directory for this skill: /s\n\n# How to review\n\nRead it all.")
    notice = user("<task-notification>done</task-notification>")
    assert newest_user((user("review it"), assistant("ok"), skill, notice)) == 0
    assert newest_user((assistant("hi"), skill)) == 1
    given = user("Base directory for this skill: /s\n\ntext\nARGUMENTS: the parser")
    assert newest_user((user("a"), given)) == 1


def test_the_text_of_a_skill_behind_its_call_is_nobodys_words() -> None:
    text = user("<role>You review harbors.</role>\nARGUMENTS: the pier")
    loaded = (user("can you review it?"), *step("a", output="Launching skill: review"), text)
    assert newest_user(loaded) == 0
    assert said_at(loaded, 3) == ""
    asked = (user("can you review it?"), *step("a", output="12 boats"), user("and the pier"))
    assert newest_user(asked) == 3
    assert said_at(asked, 3) == "and the pier"


def test_the_text_of_a_command_is_nobodys_words_where_the_command_was_given_some() -> None:
    text = user("Read every boat and say what is wrong with it.")
    named = "<command-message>review</command-message>\n<command-name>/review</command-name>"
    given = (user(f"{named}\n<command-args>the pier</command-args>"), text)
    assert (newest_user(given), said_at(given, 0), said_at(given, 1)) == (0, "the pier", "")
    bare = (user(named), text)
    assert (newest_user(bare), said_at(bare, 1)) == (1, text.text)
    to_program = (user("<command-name>/theme</command-name>\n<command-args>x</command-args>"), text)
    assert newest_user(to_program) == 1


def test_the_output_of_a_command_written_as_text_is_a_users_message() -> None:
    output = user("<returncode>0</returncode>\n<output>ok</output>")
    assert newest_user((user("mend it"), assistant("run"), output)) == 2


def test_a_patch_behind_a_command_written_as_text_is_its_output() -> None:
    patch = user("diff --git a/tide.py b/tide.py\n+high = 3")
    ran = assistant("I hand it in.\n\n```bash\ngit diff --cached\n```")
    assert said_at((user("Mend the tide."), ran, patch), 2) == ""
    assert said_at((user("Mend the tide."), assistant("Done."), patch), 2) == patch.text


def test_a_picture_without_a_word_is_a_users_message() -> None:
    picture = Message(Role.USER, (Media("image", "image/png", "aGk="),))
    assert newest_user((user("look"), assistant("at what?"), picture)) == 2
