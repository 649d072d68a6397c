"""Turns: what a user said, what was done about it, how it was concluded."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.turns import Deed, Remark, Turn, read_turns
from holdfast.transcript import Message, Role, Synthetic, Text, ToolCall, said_in
from holdfast.transcript.effects import Effect, Family
from holdfast.transcript.toolkit import Action, Toolkit
from tests.summary.material import assistant, exchange, user


def turns_of(messages: list[Message], closely: int = 600) -> list[Turn]:
    return read_turns(messages, Toolkit(), closely)


def deeds_of(messages: list[Message]) -> list[Deed]:
    return [deed for turn in turns_of(messages) for deed in turn.deeds]


def test_a_turn_is_an_ask_its_steps_and_the_last_words() -> None:
    found = turns_of(
        [
            assistant("from before"),
            user("one"),
            assistant("working"),
            *exchange("bash", "ok", command="ls"),
            assistant("done"),
            Message(Role.USER, (Text("a stub"),), synthetic=Synthetic.STUB),
            user("two"),
            assistant(" "),
        ]
    )
    assert [turn.asks for turn in found] == [[], ["one"], ["two"]]
    assert [turn.reply and turn.reply.text for turn in found] == ["from before", "done", None]
    assert [type(step) for step in found[1].steps] == [Remark, Deed, Remark]


def test_what_a_user_says_in_a_row_is_one_turn() -> None:
    found = turns_of([user("one"), user("two"), assistant("Both are done."), user("three")])
    assert [turn.asks for turn in found] == [["one", "two"], ["three"]]


def test_words_before_a_call_conclude_nothing() -> None:
    (turn,) = turns_of([user("go"), assistant("I look."), *exchange("bash", "x", command="ls")])
    assert turn.reply is None


def test_words_before_a_call_conclude_nothing_where_the_call_is_not_read_either() -> None:
    begun = [user("go"), assistant("I replace them:", ToolCall("1", "bash", '{"command": "ls"}'))]
    said = [*begun, user("stop, I did it"), *exchange("bash", "x", command="ls")]
    first, _ = read_turns(said, Toolkit(), 1)
    assert first.reply is None


def test_an_interrupted_turn_says_so_and_the_next_words_are_another() -> None:
    first, second = turns_of(
        [user("go"), user("[Request interrupted by user]"), user("do that instead")]
    )
    assert (first.asks, first.interrupted) == (["go"], True)
    assert (second.asks, second.interrupted) == (["do that instead"], False)


def test_calls_become_deeds_with_their_endings() -> None:
    (deed,) = deeds_of(exchange("bash", "Exit code 2\nboom", command="make"))
    assert deed.action == Action(Family.SHELL, "bash", "make")
    assert deed.ended == Effect("boom", 2, failed=True)
    assert deed.failed
    assert not deed.rejected


def test_what_a_user_did_not_allow_was_not_done() -> None:
    words = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    (deed,) = deeds_of(exchange("bash", words, command="rm -rf /", failed=True))
    assert deed.rejected


def test_commands_in_fences_that_were_run_are_deeds_and_their_output_is_no_ask() -> None:
    messages = [
        user("fix it"),
        assistant("THOUGHT\n```bash\nls -la\n```"),
        user("<returncode>0</returncode>\n<output>a.py</output>"),
        assistant("```bash\ncat a.py\n```"),
        user("stop"),
        assistant("```sh\npwd\n```"),
    ]
    assert [(deed.action.target, deed.ended) for deed in deeds_of(messages)] == [
        ("ls -la", Effect("a.py", 0))
    ]
    assert [turn.asks for turn in turns_of(messages)] == [["fix it"], ["stop"]]


def test_a_file_that_was_edited_through_words_is_named_by_the_answer() -> None:
    shown = "[File: /srv/app/loader.py (120 lines total)]\n1:import os"
    said = [
        assistant("```\ncreate try.py\n```"),
        user("[File: /srv/app/try.py (1 lines total)]\n1:\n(Open file: /srv/app/try.py)\nbash-$"),
        assistant("```\nopen loader.py 1\n```"),
        user(f"{shown}\n(Open file: /srv/app/loader.py)\nbash-$"),
        assistant("```\nedit 1:1\nimport sys\nend_of_edit\n```"),
        user(f"{shown}\nFile updated. Please review it.\n(Open file: loader.py)\nbash-$"),
        assistant("```\nedit 1:1\nimport\nend_of_edit\n```"),
        user(f"Your edit has syntax errors.\n{shown}\n(Open file: loader.py)\nbash-$"),
    ]
    assert [deed.action.files for deed in deeds_of(said)] == [
        ("/srv/app/try.py",),
        (),
        ("/srv/app/loader.py",),
        (),
    ]


def test_a_command_in_a_fence_that_was_stopped_or_refused_failed() -> None:
    def failed(command: str, answer: str) -> bool:
        said = assistant(f"I do it.\n\n```\n{command}\n```")
        frame = "(Open file: n/a)\n(Current directory: /boat)\nbash-$"
        (deed,) = deeds_of([user("Sail."), said, user(f"{answer}\n{frame}"), assistant("So.")])
        return deed.failed

    assert failed("./sail", "EXECUTION TIMED OUT")
    assert not failed("./sail", "41 boats")
    assert failed("edit 1:1\nx\nend_of_edit", "The edit has a syntax error.")
    assert not failed("edit 1:1\nx\nend_of_edit", "[File: /a.py (1 lines total)]\nFile updated.")


def test_the_label_above_the_words_of_a_step_says_nothing() -> None:
    said = [
        assistant("THOUGHT: The loader is at fault.\n```bash\nls\n```"),
        user("<returncode>0</returncode>\n<output>a.py</output>"),
        assistant("DISCUSSION\nNow the parser.\n```\ncat a.py\n```"),
        user("<returncode>0</returncode>\n<output>x = 1</output>"),
        assistant("Analysis: nothing is left to do."),
    ]
    words = [
        step.text for turn in turns_of(said) for step in turn.steps if isinstance(step, Remark)
    ]
    assert words == [
        "The loader is at fault.",
        "Now the parser.",
        "Analysis: nothing is left to do.",
    ]


def test_a_command_that_was_only_suggested_is_no_deed() -> None:
    suggestion = "You could run:\n```bash\nrm -rf build\n```"
    messages = [
        *exchange("bash", "ok", command="ls"),
        assistant(suggestion),
        user("<local-command-stdout>set</local-command-stdout>"),
        assistant(suggestion),
        user("/mode"),
        assistant(suggestion, ToolCall("1", "bash", '{"command": "pwd"}')),
        assistant(suggestion),
    ]
    assert [deed.action.target for deed in deeds_of(messages)] == ["ls", "pwd"]


def test_the_last_block_of_a_message_is_the_one_that_was_run() -> None:
    messages = [assistant("```bash\nls\n```\n```bash\npwd\n```"), user("<output>x</output>")]
    assert [deed.action.target for deed in deeds_of(messages)] == ["pwd"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "It is:\n```py\nx\n```\nTests stay.\n```sh\nls\n```",
            "It is:\n```py\nx\n```\nTests stay.",
        ),
        ("Tests stay.\n```sh\nls\n```\nNow.", "Tests stay.\nNow."),
        ("```sh\nls\n```\nTests stay.", "\nTests stay."),
        ("Tests stay.\n```sh\nls", "Tests stay."),
    ],
)
def test_of_a_message_only_the_block_that_ran_is_left_out(text: str, words: str) -> None:
    output = user("<returncode>0</returncode>\n<output>x</output>")
    steps = turns_of([assistant(text), output])[0].steps
    assert [each.text for each in steps if isinstance(each, Remark)] == [words]


def test_an_action_that_is_written_as_text_concludes_nothing() -> None:
    acting = assistant("I look at the log.\n\n```\ntail mill.log\n```")
    output = user("no water\n(Open file: n/a)\nbash-$")
    complaint = user(
        "Your output was not formatted correctly. You must always include one command."
    )
    (turn,) = turns_of([user("Why does it stand still?"), acting, output, acting, complaint])
    assert turn.reply is None
    assert [step.action.target for step in turn.deeds] == ["tail mill.log"]
    assert [step.text for step in turn.steps if isinstance(step, Remark)] == [
        "I look at the log.\n",
        "I look at the log.\n",
    ]
    (pending,) = turns_of([user("Why does it stand still?"), acting, output, acting])
    assert pending.reply is None
    answer = assistant("The gate is shut.")
    (answered,) = turns_of([user("Why does it stand still?"), acting, output, answer])
    assert answered.reply == Remark("The gate is shut.", 3)


def test_short_answers_do_not_look_through_all_that_was_said() -> None:
    def seconds(answers: int) -> float:
        work = exchange("bash", "ok", command="ls")
        silent = [each for _ in range(answers) for each in (user("1"), *work)]
        started = process_time()
        turns_of(silent)
        return process_time() - started

    # Looking back over everything, eight times as many took sixty times as long.
    few, many = (min(seconds(count) for _ in range(3)) for count in (250, 2_000))
    assert many < 25 * few


def test_a_task_that_ends_with_a_prompt_is_an_ask_where_it_opens_the_conversation() -> None:
    task = user("Mend the sluice.\n(Current directory: /mill)\nbash-$")
    (turn,) = read_turns([task, assistant("I will.")], Toolkit(), 600, opens=True)
    assert turn.asks == ["Mend the sluice."]
    (later,) = turns_of([task, assistant("I will.")])
    assert later.asks == []


def test_the_files_that_a_command_writes_belong_to_its_deed() -> None:
    found = deeds_of(
        [
            *exchange("bash", "", command="sed -i 's/a/b/' src/parser.py"),
            *exchange("bash", "", command="echo x > notes.txt && cat a.txt"),
            *exchange("bash", "", command="grep -n x src/app.py"),
        ]
    )
    assert [deed.action.files for deed in found] == [("src/parser.py",), ("notes.txt",), ()]


def test_only_the_newest_calls_are_read_closely_and_the_others_are_counted() -> None:
    calls = [assistant("", ToolCall(str(index), "bash")) for index in range(50)]
    (turn,) = turns_of([user("go"), *calls], closely=20)
    assert len(list(turn.deeds)) == 20
    assert turn.older == 30


def test_tools_can_be_registered() -> None:
    toolkit = Toolkit({"my_runner": Family.SHELL})
    (turn,) = read_turns(exchange("my_runner", "ok", command="step"), toolkit, 10)
    assert [deed.action.family for deed in turn.deeds] == [Family.SHELL]


def test_what_a_program_wrote_in_a_users_name_is_not_theirs() -> None:
    assert said_in(user("<output>you must not quote me</output>")) == ""
    assert said_in(assistant("hello")) == ""
    assert said_in(user(" \n")) == ""
    assert said_in(user("Base directory for this skill: /x\n\ntext\nARGUMENTS: fix it")) == "fix it"
    assert said_in(user("fix it")) == "fix it"


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=60)), max_size=12))
def test_every_word_of_a_user_is_in_exactly_one_turn_in_order(
    said: list[tuple[bool, str]],
) -> None:
    messages = [user(text) if is_user else assistant(text) for is_user, text in said]
    asks = [ask for turn in turns_of(messages) for ask in turn.asks]
    assert asks == [words for message in messages if (words := said_in(message))]
    places = [turn.place for turn in turns_of(messages)]
    assert places == sorted(set(places))
