from collections import Counter

from holdfast.summary.story import CLOSELY, Deed, Round, tell
from holdfast.transcript import Message, Role, Synthetic, Text, ToolCall
from holdfast.transcript.effects import Effect
from holdfast.transcript.families import Family
from holdfast.transcript.toolkit import Action, Toolkit
from tests.summary.material import assistant, exchange, user


def test_rounds_pair_what_was_said_with_the_last_reply() -> None:
    story = tell(
        [
            assistant("from before"),
            user("one"),
            assistant("working"),
            assistant("done"),
            Message(Role.USER, (Text("a stub"),), synthetic=Synthetic.STUB),
            user("two"),
            assistant(" "),
        ],
        Toolkit(),
    )
    assert story.opening == "from before"
    assert story.rounds == (Round("one", "done"), Round("two"))
    assert story.replies == ("from before", "working", "done")


def test_calls_become_deeds_with_their_endings() -> None:
    story = tell([*exchange("bash", "Exit code 2\nboom", command="make")], Toolkit())
    (deed,) = story.deeds
    assert deed.action == Action(Family.SHELL, "bash", "make")
    assert deed.ended == Effect("Exit code 2\nboom", 2, failed=True)
    assert deed.failed


def test_commands_in_fences_that_were_run_are_deeds_and_their_output_is_no_ask() -> None:
    story = tell(
        [
            user("fix it"),
            assistant("THOUGHT\n```bash\nls -la\n```"),
            user("<returncode>0</returncode>\n<output>a.py</output>"),
            assistant("```bash\ncat a.py\n```"),
            user("stop"),
            assistant("```sh\npwd\n```"),
        ],
        Toolkit(),
    )
    assert [(deed.action.target, deed.ended) for deed in story.deeds] == [
        ("ls -la", Effect("a.py", 0))
    ]
    assert [each.words for each in story.rounds] == ["fix it", "stop"]


def test_a_command_that_was_only_suggested_is_no_deed() -> None:
    suggestion = "You could run:\n```bash\nrm -rf build\n```"
    story = tell(
        [
            *exchange("bash", "ok", command="ls"),
            assistant(suggestion),
            user("<local-command-stdout>set</local-command-stdout>"),
            assistant(suggestion),
            user("/mode"),
            assistant(suggestion, ToolCall("1", "bash", '{"command": "pwd"}')),
            assistant(suggestion),
        ],
        Toolkit(),
    )
    assert [deed.action.target for deed in story.deeds] == ["ls", "pwd"]
    assert story.older == Counter()


def test_the_last_block_of_a_message_is_the_one_that_was_run() -> None:
    turns = [assistant("```bash\nls\n```\n```bash\npwd\n```"), user("<output>x</output>")]
    assert [deed.action.target for deed in tell(turns, Toolkit()).deeds] == ["pwd"]


def test_only_the_newest_calls_are_read_closely() -> None:
    calls = [assistant("", ToolCall(str(index), "bash")) for index in range(CLOSELY + 5)]
    story = tell(calls, Toolkit())
    assert len(story.deeds) == CLOSELY
    assert story.older == Counter({Family.SHELL: 5})
    assert not Deed(Action(Family.OTHER, "x", ""), None).failed
