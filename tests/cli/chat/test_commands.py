"""Every slash command, with what it wants and with what it does not."""

import re
from pathlib import Path

import pytest

from holdfast.cli.chat.commands import COMMANDS, names
from holdfast.session import EndReason, Fork
from tests.cli.chat.full import FULL, full_chat
from tests.cli.chat.full import TURNS as TURNS_TO_FULL
from tests.cli.chat.talking import asks_for, said_in, says, sent, shown, stored, talk
from tests.cli.running import REPOSITORY, Ended
from tests.promises.conversations import record
from tests.providers.provider import Reply, chat, provider

NOT_FOUND = "nothing was found; try fewer or other words, or part* for a beginning"
NO_SESSION = "there is no session 'nosuch'; holdfast sessions list shows what there is"
NO_FOLDER = "cannot write /nowhere/x.md: there is no such file or folder"
LISTED = (
    "     used      window      title",
    "  1  just now  3 messages  The port is 8443",
)
LONG = " ".join(f"word{number}" for number in range(400))
TURNS = [f"Turn {number}: {LONG}" for number in range(6)]


def growing() -> list[Reply]:
    """Return an answer to each of the long turns, with what a provider would count."""
    return [says("Yes.", tokens=1_000 * number) for number in range(1, 7)]


def after(*lines: str, flags: tuple[str, ...] = ()) -> list[str]:
    """Return what the last line of a short conversation brought."""
    with provider(says("Yes.")) as server:
        ended = talk(server, "The port is 8443", *lines, flags=flags)
    everything = shown(ended)
    return everything[everything.index(f"> {lines[-1]}") + 1 :]


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("/goal",), ["there is no goal"]),
        (("/goal be brief",), ["goal: be brief"]),
        (("/goal be brief", "/goal -"), ["there is no goal"]),
        (("/title",), ["title: The port is 8443"]),
        (("/title A talk",), ["title: A talk"]),
        (("/pin",), ["pinned: The port is 8443"]),
        (("/rewind", "/pin"), ["you have not said anything yet"]),
        (("/undo",), ["there is nothing to undo"]),
        (("/redo",), ["there is nothing to redo"]),
        (("/rewind x",), ["'x' is no number of turns"]),
        (("/rewind 0",), ["nothing was taken out of the window"]),
        (("/rewind",), ["2 messages taken out of the window; /undo brings them back"]),
        (("/model a b",), ["write /model NAME, or /model NAME TOKENS for the size of its window"]),
        (("/aside",), ["ask something: /aside QUESTION"]),
        (("/aside Why?",), ["Yes.", "(beside the conversation, which goes on without it)"]),
        (("/search",), ["say what to look for: /search WORDS, or /search here WORDS"]),
        (("/search nowhere",), [NOT_FOUND]),
        (("/memory what",), ["write /memory, /memory add TEXT or /memory remove TEXT"]),
        (("/memory add Tea.",), ["added to MEMORY.md (4 of 2,200 characters)"]),
        (("/memory",), ["MEMORY.md: 0 % of 2,200 characters", "USER.md: 0 % of 1,375 characters"]),
        (("/retry",), ["nothing waits for an answer"]),
        (("/resume",), [*LISTED, "the conversation stays as it is"]),
        (("/resume nosuch",), [NO_SESSION]),
        (("/export /nowhere/x.md",), [NO_FOLDER]),
        (("/frob",), ["there is no command /frob; /help lists them, // says it to the model"]),
        (("/hlep",), ["there is no command /hlep; did you mean /help?"]),
        (("/",), ["there is no command /; /help lists them, // says it to the model"]),
        (("//etc/hosts",), ["Yes."]),
    ],
)  # fmt: skip
def test_a_command_answers(home: Path, lines: tuple[str, ...], answer: list[str]) -> None:
    assert after(*lines) == answer


def test_help_names_every_command_in_a_column(home: Path) -> None:
    lines = after("/help")
    starts = {line.index(command.about) for line, command in zip(lines, COMMANDS, strict=False)}
    assert len(starts) == 1
    assert all(len(line) <= 80 for line in lines)
    assert "/compact" in names()


def test_undo_and_redo_turn_the_window(home: Path) -> None:
    assert after("/rewind", "/undo", "/redo", "/status")[4].startswith("window        1 message,")
    assert after("/rewind", "/undo", "/status")[4].startswith("window        3 messages")


def test_status_and_usage_tell_how_it_stands(home: Path) -> None:
    status = {line[:14].strip(): line[14:] for line in after("/goal be brief", "/status")}
    (session,) = stored(home)
    assert (status["session"], status["goal"]) == (session.id, "be brief")
    assert status["model"] == "m, 200,000 tokens"
    assert status["memory"] == "files."
    usage = {line[:14].strip(): line[14:] for line in after("/usage")}
    assert (usage["calls"], usage["read"], usage["answered"]) == ("1", "9 tokens", "3 tokens")


def below(ended: Ended) -> list[str]:
    """Return the status lines, which a terminal shows below the prompt."""
    return [line for line in ended.text.splitlines() if line.startswith(("░", "█"))]


def told_of(lines: list[str]) -> list[str]:
    """Return what stands beside the label of a warning."""
    return [line[14:] for line in lines if line.startswith("warning       ")]


def test_a_pass_that_did_without_its_model_is_on_every_line_that_tells_of_the_talk(
    home: Path,
) -> None:
    with full_chat() as server:
        ended = talk(server, *TURNS_TO_FULL, "And?", "/status", "/usage", flags=FULL)
        again = talk(server, "/status", flags=(*FULL, "--resume", "last"))
    last, first = dict.fromkeys(told_of(shown(ended)))
    assert last.startswith("m is unavailable: HTTP 503")
    assert first.startswith("the summary model s failed (s is unavailable: HTTP 503")
    # Once in `/status`, once in `/usage`.
    assert told_of(shown(ended)) == [last, first] * 2
    assert [shown(ended).count(f"[warning] {said}") for said in (last, first)] == [1, 1]
    assert ["· m is unavailable, /status" in line for line in below(ended)[-3:]] == [True] * 3
    assert told_of(shown(again)) == [last, first]


def test_a_frozen_conversation_says_so_until_somebody_compresses_it_or_begins_anew(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_COMPRESSION_ABORT_ON_SUMMARY_FAILURE", "true")
    with full_chat() as server:
        ended = talk(server, *TURNS_TO_FULL, "And?", "/status", "/new", flags=FULL)
    last, first = told_of(shown(ended))
    assert last.startswith("not compacted: m is unavailable: HTTP 503")
    assert first.startswith("the summary model s failed")
    *_, frozen, anew = below(ended)
    assert "· not compacted: m is unavailable" in frozen
    assert "unavailable" not in anew


def test_tools_are_listed_where_there_are_any(home: Path) -> None:
    assert [line.split()[0] for line in after("/tools")] == [
        *("read_file", "list_files", "search_files", "run_command", "session_search"),
        *("plan", "memory", "delegate"),
    ]
    assert after("/tools", flags=("--no-tools",)) == ["the model has no tools here"]


def test_a_new_conversation_leaves_the_other_one_to_be_resumed(home: Path) -> None:
    with provider(says("Yes.")) as server:
        talk(server, "The port is 8443")
        (old,) = stored(home)
        lines = ("/goal be brief", "/new", "Hi", f"/resume {old.id}", "Which port?")
        ended = talk(server, *lines, flags=("--resume", "last"))
    assert f"a new conversation; /resume {old.id} goes back" in shown(ended)
    assert "on with: The port is 8443 (3 messages)" in shown(ended)
    assert [text for _, text in said_in(home, old.id)][::2] == ["The port is 8443", "Which port?"]
    (new,) = [each for each in stored(home) if each.id != old.id]
    assert (new.goal, said_in(home, new.id)[0]) == ("be brief", ("user", "Hi"))
    assert (new.parent, new.fork) == (old.id, Fork.RESET)


def test_a_new_beginning_ends_the_conversation_and_is_linked_to_it(home: Path) -> None:
    with provider(says("Yes.")) as server:
        talk(server, "The port is 8443", "/new", "Hi")
    new, old = sorted(stored(home), key=lambda each: each.parent is None)
    assert (old.end_reason, new.parent, new.fork) == (EndReason.RESET, old.id, Fork.RESET)


@pytest.mark.parametrize(
    ("line", "title", "end"),
    [
        ("/branch Other", "Other", EndReason.BRANCHED),
        ("/branch", "One #2", EndReason.BRANCHED),
        ("/branch --keep Other", "Other", None),
        ("/branch --keep", "One #2", None),
        ("/branch --keeper", "--keeper", EndReason.BRANCHED),
    ],
)
def test_a_branch_ends_the_conversation_unless_told_to_keep_it(
    home: Path, line: str, title: str, end: EndReason | None
) -> None:
    with provider(says("Yes.")) as server:
        ended = talk(server, "One", line)
    branch, old = sorted(stored(home), key=lambda each: each.parent is None)
    assert (branch.title, old.end_reason) == (title, end)
    back = "begins another one where you left" if end else "goes back"
    assert f"on a branch: {title}; /resume {old.id} {back}" in " ".join(shown(ended))


def test_a_branch_goes_another_way_and_the_conversation_stays(home: Path) -> None:
    with provider(says("Yes.")) as server:
        talk(server, "One", "/branch Other", "Two")
    branch, old = sorted(stored(home), key=lambda each: each.parent is None)
    assert (branch.title, [text for _, text in said_in(home, old.id)]) == ("Other", ["One", "Yes."])
    assert [each["content"] for each in sent(server)][1:] == ["One", "Yes.", "Two"]


def test_everything_is_exported(here: Path, home: Path) -> None:
    answer = after("/export talk.md")
    assert answer == ["wrote 3 messages to talk.md"]
    written = (here / "talk.md").read_text("utf-8")
    assert written.startswith("# The port is 8443\n")
    assert "## Assistant\n\nYes.\n" in written


def test_a_compaction_is_made_and_taken_back(home: Path) -> None:
    with provider(*growing()) as server:
        ended = talk(server, *TURNS, "/compress", "/undo", flags=("--context-length", "16000"))
    lines = shown(ended)
    told = lines[lines.index("> /compress") + 1 :]
    assert told[0].startswith("Compressed: 13 -> ")
    assert told[1].startswith("Estimate: about ")
    assert told[-1].startswith("undone: the window has 13 messages")


def test_another_model_goes_on_and_a_smaller_one_folds_first(home: Path) -> None:
    with provider(*growing(), whole=chat(record())) as server:
        ended = talk(server, *TURNS, "/model small 6000", "Hi", flags=("--context-length", "32000"))
    (written,) = [each for each in server.requests if not each.fields.get("stream")]
    assert written.fields["model"] == "m"
    lines = shown(ended)
    told = lines[lines.index("> /model small 6000") + 1 :]
    assert told[0].startswith("Compressed: ")
    assert told[2].startswith("Messages 1 to 3 of the opening are folded: ")
    assert told[3].startswith("small at http://127.0.0.1:")
    assert told[3].endswith(", 6,000 tokens")
    assert server.requests[-1].fields["model"] == "small"
    assert stored(home)[0].model == "small"


def test_a_command_of_the_model_is_not_one_of_the_chat(home: Path) -> None:
    with provider(asks_for("list_files"), says("/quit")) as server:
        ended = talk(server, "List", "/quit", "never heard")
    assert shown(ended)[-2:] == ["/quit", "> /quit"]
    assert len(server.requests) == 2


def test_the_page_has_every_command_and_what_it_does() -> None:
    page = (REPOSITORY / "docs" / "reference" / "cli.md").read_text("utf-8")
    missing = [
        command.name
        for command in COMMANDS
        if not re.search(rf"^\| `/{command.name}\b.*\| {re.escape(command.about)} \|$", page, re.M)
    ]
    assert missing == []
