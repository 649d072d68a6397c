from dataclasses import replace

from holdfast.summary.checkpoint import Checkpoint
from holdfast.summary.deterministic import deterministic
from holdfast.summary.record import Record
from holdfast.summary.rounds import NO_REPLY, Context, Exchange, context_of, exchanges, first_reply
from holdfast.summary.story import tell
from holdfast.transcript import Message
from holdfast.transcript.toolkit import Toolkit
from tests.summary.material import assistant, exchange, job, user


def told(turns: list[Message], task: str, *after: Message) -> tuple[Exchange, ...]:
    return exchanges(tell(turns, Toolkit()), task, after)


def context(turns: list[Message], task: str, *after: Message) -> Context:
    return context_of(task, tell(turns, Toolkit()), after)


def test_an_approval_keeps_the_proposal_right_before_it() -> None:
    turns = [user("clean up"), assistant("Shall I delete A?"), user("yes"), assistant("Delete B?")]
    assert context([*turns, user("yes")], "yes") == Context("Delete B?", "yes")
    assert context(turns, "yes", assistant("Delete C?"), user("yes")) == Context("Delete C?")


def test_nothing_is_said_where_the_words_before_are_not_known() -> None:
    turns = [user("clean up"), assistant("Shall I delete A?")]
    assert context(turns, "yes", user("yes"), assistant("Deleted.")) == Context()
    assert context(turns, "yes", assistant("Deleted.")) == Context()
    assert context([], "yes") == Context()


def test_an_approval_after_the_folded_turns_is_not_given_to_a_folded_proposal() -> None:
    folded = job([user("Clean up the disk of the server"), assistant("Shall I delete the logs?")])
    after = (user("no"), assistant("Shall I buy a larger disk?"), user("yes"))
    assert deterministic(replace(folded, task="yes", after=after), ()).task == (
        "yes",
        "(said after the assistant wrote: Shall I buy a larger disk?)",
        "(said after: no)",
    )


def test_each_ask_has_the_last_words_before_the_next_one() -> None:
    turns = [
        user("one"),
        assistant("Looking."),
        assistant("One is done."),
        user("Good decision. Keep it that way."),
        user("two"),
        user("three"),
        assistant("Both are done."),
        user("now"),
    ]
    assert told(turns, "now") == (
        Exchange(("one",), "One is done."),
        Exchange(("two", "three"), "Both are done."),
    )


def test_a_reply_to_the_task_is_no_reply_to_the_ask_before_it() -> None:
    turns = [user("one"), user("now")]
    assert told(turns, "now") == (Exchange(("one",), ""),)
    assert told([*turns, assistant("ok")], "now") == (Exchange(("one",), NO_REPLY),)
    assert told(turns[:1], "now", user("now"), assistant("ok")) == (Exchange(("one",), NO_REPLY),)
    assert told(turns[:1], "now", assistant("ok")) == (Exchange(("one",), "ok"),)


def test_program_output_does_not_come_between_an_ask_and_its_reply() -> None:
    output = user("<returncode>0</returncode><output></output>")
    assert (
        first_reply([output, *exchange("bash", "x", command="ls"), assistant("Done.")]) == "Done."
    )
    assert first_reply([output]) == ""


def test_a_task_that_is_folded_later_is_resolved_once_with_its_own_reply() -> None:
    before = Checkpoint(Record(task=("Fix the parser and tell me what was wrong with it",)))
    turns = [
        assistant("Shall I fix it?"),
        user("Fix the parser and tell me what was wrong with it"),
        assistant("Fixed: it lost the last token."),
        user("Now release it to everybody, as version 2"),
    ]
    record = deterministic(replace(job(turns), previous=before), ())
    assert record.resolved == (
        '"Fix the parser and tell me what was wrong with it" - Fixed: it lost the last token.',
    )


def test_a_finished_plan_leaves_nothing_of_an_older_one() -> None:
    before = Checkpoint(Record(remaining=("write it (pending)",)))
    done = exchange("TodoWrite", "ok", todos=[{"content": "write it", "status": "completed"}])
    assert deterministic(replace(job(done), previous=before), ()).remaining == ()
    assert deterministic(replace(job([]), previous=before, after=tuple(done)), ()).remaining == ()
    assert deterministic(replace(job([]), previous=before), ()).remaining == before.record.remaining


def test_a_goal_is_cut_before_a_word_that_does_not_fit() -> None:
    address = "https://example.org/" + "a" * 100
    (goal,) = deterministic(job([user("word " * 70 + address)]), ()).goal
    assert goal == ("word " * 70).strip() + "…"


def test_an_agent_without_tool_calls_has_files_and_outcomes() -> None:
    turns = [
        user("Fix the parser so that it keeps the last token of a line"),
        assistant("THOUGHT: edit\n```bash\nsed -i 's/a/b/' src/parser.py\n```"),
        user("<returncode>0</returncode>\n<output>\n</output>"),
        assistant("```bash\npytest\n```"),
        user("<returncode>0</returncode>\n<output>\n3 passed in 1s\n</output>"),
    ]
    record = deterministic(job(turns), ())
    assert record.files == ("src/parser.py - changed",)
    assert record.actions == (
        "1. RAN sed -i 's/a/b/' src/parser.py - exit 0 [tool: bash]",
        '2. RAN pytest - exit 0, "3 passed in 1s" [tool: bash]',
    )
