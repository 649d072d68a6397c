"""`holdfast sessions show`, `tree`, `export` and `diff`: looking without changing anything."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.session import Draft, Fork, Session, Spawn
from holdfast.transcript import Message, Role, Summary, Text
from holdfast.wire import DIALECTS, Body
from holdfast.wiring import Conversation, open_store
from tests.cli.running import launch, run
from tests.cli.stored import answered, compacted, conversation, store_in, talk

DIFFERENT = ("openai", "responses", "anthropic", "gemini", "sharegpt")


@pytest.fixture
def session(home: Path) -> str:
    """Return the id of a stored session with one compaction."""
    return compacted(store_in(home))


def test_the_window_is_shown_to_scale_with_its_newest_messages(session: str) -> None:
    ended = run("sessions", "show", session, "--limit", "3", "--context-length", "8000")
    bars = [line for line in ended.text.splitlines() if line.startswith(" [")]
    assert {len(bar) for bar in bars} == {79}
    assert "compacted 1 time" in ended.text
    assert "earlier messages not listed; --limit 0 lists all" in ended.text
    found = json.loads(run("sessions", "show", session, "--limit", "3", "--json").output)
    assert [each["role"] for each in found["messages"]] == ["assistant", "tool", "assistant"]
    assert found["window"]["messages"] == found["messages_left_out"] + 3
    assert sum(found["window"]["kinds"].values()) == found["window"]["tokens"]


def test_a_window_has_one_size_on_every_screen(home: Path) -> None:
    with Conversation.open(store=store_in(home), context_length=8_000, active=False) as chat:
        talk(chat, 16)
        chat.add_user("And the last one?")
        chat.messages()
        rough = chat.status().tokens
        answer = {"choices": [{"message": {"role": "assistant", "content": "Port 8015."}}]}
        chat.add_response({**answer, "usage": {"prompt_tokens": 2 * rough}})
        said, compacted = chat.status().tokens, chat.compress()
        name, after = chat.id, chat.status().tokens
    assert said == pytest.approx(2 * rough, abs=50)
    assert compacted.tokens_before == pytest.approx(said, rel=0.01)

    def shown(*options: str) -> Any:
        return json.loads(run("sessions", "show", name, "--limit", "0", "--json", *options).output)

    found = shown()
    window = found["window"]
    assert window["tokens"] == sum(window["kinds"].values())
    assert window["tokens"] == pytest.approx(after, rel=0.01)
    assert sum(each["tokens"] for each in found["messages"]) == pytest.approx(after, rel=0.01)
    listed = sum(each["tokens"] for each in shown("--all")["messages"])
    assert listed == pytest.approx(said, rel=0.01)
    diff = json.loads(run("sessions", "diff", name, "--json").output)
    sides = {side: sum(each["tokens"] for each in diff[side]) for side in ("folded", "kept")}
    old = sum(each["before"]["tokens"] for each in diff["replaced"])
    assert sides["folded"] + sides["kept"] + old == pytest.approx(said, rel=0.01)
    undone = json.loads(run("sessions", "undo", name, "--json").output)
    assert undone["tokens_before"] == pytest.approx(after, rel=0.01)
    assert undone["tokens_after"] == pytest.approx(said, rel=0.01)
    run("sessions", "export", name, "--format", "html", "-o", str(home / "page.html"))
    assert f"{shown()['window']['tokens']:,} of 8,000 tokens" in (home / "page.html").read_text()


def failing(_: str) -> str:
    raise ConnectionError("no route")


def test_a_record_that_its_model_did_not_write_is_told_as_long_as_the_window_has_it(
    home: Path,
) -> None:
    name = compacted(store_in(home), summarizer=failing)
    found = json.loads(run("sessions", "show", name, "--json").output)
    (said,) = found["warnings"]
    assert said.startswith("failing failed: ConnectionError: no route")
    told = json.loads(run("sessions", "diff", name, "--json").output)
    assert told["compaction"]["report"]["warnings"] == [said]
    wide = {"COLUMNS": "200"}
    assert f"  warning   {said}\n" in run("sessions", "show", name, env=wide).text
    assert f"  warning   {said}\n" in run("sessions", "diff", name, env=wide).text
    narrow = run("sessions", "diff", name, env={"COLUMNS": "60"}).text.splitlines()
    assert max(len(line) for line in narrow if line.startswith("  warning")) <= 60
    assert run("sessions", "undo", name).code == 0
    assert json.loads(run("sessions", "show", name, "--json").output)["warnings"] == []
    assert "  warning  " not in run("sessions", "show", name, env=wide).text


def test_everything_that_was_said_can_be_listed(session: str) -> None:
    window = json.loads(run("sessions", "show", session, "--limit", "0", "--json").output)
    log = json.loads(run("sessions", "show", session, "--all", "--limit", "0", "--json").output)
    assert len(log["messages"]) == 1 + 17 * 4
    assert not any(each["derived"] for each in log["messages"])
    assert len(window["messages"]) < len(log["messages"])
    assert any(each["derived"] for each in window["messages"])


def test_json_says_which_messages_nobody_said(session: str) -> None:
    window = json.loads(run("sessions", "show", session, "--limit", "0", "--json").output)
    told = [(each["role"], each["synthetic"]) for each in window["messages"]]
    # The record stands in front of what the user said next, and the system prompt got a note.
    assert ("system", "note") in told
    assert [role for role, synthetic in told if synthetic == "summary"] == ["user"]
    assert ("assistant", None) in told
    log = json.loads(run("sessions", "show", session, "--all", "--limit", "0", "--json").output)
    assert {each["synthetic"] for each in log["messages"]} == {None}


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("command", ["show", "tree", "diff"])
def test_no_line_is_wider_than_the_terminal(session: str, command: str, columns: int) -> None:
    ended = run("sessions", command, session, env={"COLUMNS": str(columns)})
    assert ended.code == 0
    wide = [line for line in ended.text.splitlines() if len(line) > columns]
    assert [line for line in wide if "= kept" not in line] == []


def test_a_message_that_was_cut_is_shown_whole_on_request(home: Path) -> None:
    with conversation(store_in(home), 1) as chat:
        output = "".join(f"line {number}\n" for number in range(30_000))
        number = str(answered(chat, output).id)
    part = run("sessions", "show", "last", "--message", number)
    whole = run("sessions", "show", "last", "--message", number, "--whole")
    assert "shown in part; --whole shows all of it" in part.text
    assert "line 15000\n" not in part.text
    assert "line 15000\n" in whole.text
    assert "shown in part" not in whole.text
    assert run("sessions", "show", "last", "--whole").code == 2
    missing = run("sessions", "show", "last", "--message", "99999")
    assert missing.code == 1


def test_nothing_in_a_message_can_command_the_terminal(home: Path) -> None:
    with conversation(store_in(home), 1) as chat:
        number = str(chat.add_user("red \x1b[31malert\x07").id)
    assert "\x1b" not in run("sessions", "show", "last").text
    assert "\x1b" not in run("sessions", "show", "last", "--message", number).text


def test_a_tree_marks_the_session_and_where_it_goes_on(home: Path) -> None:
    with conversation(store_in(home), 16, title="Task", strategy="rotation") as chat:
        first = chat.id
        assert chat.compress().outcome == "folded"
        chat.branch(keep_parent=True)
        second = chat.id
    drawn = run("sessions", "tree", first, "--views").text.splitlines()
    assert drawn[0].startswith(f"{first} *  ended (compression), 65 entries  Task")
    assert drawn[1].startswith(f"{second} >  by compression, live, ")
    assert drawn[2].startswith("│  compaction ")
    assert drawn[3].startswith("└─ ")
    assert drawn[3].endswith("by branch, live, 0 entries  Task #3")
    found = json.loads(run("sessions", "tree", first, "--views", "--json").output)
    assert (found["session"], found["leaf"]) == (first, second)
    assert [each["parent"] for each in found["sessions"]] == [None, first, second]
    assert [each["cause"] for each in found["sessions"][1]["views"]] == ["fork", "compaction"]


def test_branches_of_a_tree_are_drawn_beside_each_other(home: Path) -> None:
    # Their times are given: two branches of one millisecond would be ordered by their ids.
    store = open_store(store_in(home), {})
    store.create(Session(id="s0", source="cli", started=0))
    for number, parent in enumerate(("s0", "s1", "s0"), 1):
        child = Session(
            id=f"s{number}", source="cli", started=number, parent=parent, fork=Fork.BRANCH
        )
        store.spawn(Spawn(child=child))
    store.close()
    drawn = run("sessions", "tree", "s0").text.splitlines()
    assert [line[: line.index("s")] for line in drawn[:4]] == ["", "├─ ", "│  └─ ", "└─ "]


def test_a_very_deep_lineage_is_drawn_too(home: Path) -> None:
    store = open_store(store_in(home), {})
    store.create(Session(id="s0", source="cli", started=0))
    forks = [Fork.COMPRESSION] * 1_100 + [Fork.BRANCH] * 3
    for number, fork in enumerate(forks, 1):
        child = Session(
            id=f"s{number}", source="cli", started=number, parent=f"s{number - 1}", fork=fork
        )
        store.spawn(Spawn(child=child))
    store.close()
    drawn = run("sessions", "tree", "s0").text.splitlines()
    assert drawn[1_100].startswith("s1100  by compression, live")
    assert drawn[1_103].startswith("      └─ s1103")
    assert len(json.loads(run("sessions", "tree", "s0", "--json").output)["sessions"]) == 1_104


def test_a_tree_is_drawn_in_ascii_where_nothing_else_can_be_shown(home: Path) -> None:
    with conversation(store_in(home), 1, title="Task") as chat:
        chat.branch()
    ended = launch("sessions", "tree", "last", env={"PYTHONIOENCODING": "ascii"})
    assert "`- " in ended.text
    assert "?" not in ended.text


@pytest.mark.parametrize("dialect", DIFFERENT)
def test_an_export_is_a_request_that_the_provider_takes(session: str, dialect: str) -> None:
    found = json.loads(run("sessions", "export", session, "--format", dialect).output)
    keys = {"responses": "input", "gemini": "contents", "sharegpt": "conversations"}
    body = Body(found[keys.get(dialect, "messages")])
    assert len(body.messages) > 10
    assert DIALECTS[dialect].validate(body) == ()


def test_the_window_is_exported_with_its_goal_and_the_log_word_for_word(home: Path) -> None:
    output = "".join(f"line {number}\n" for number in range(30_000))
    with conversation(store_in(home), 1) as chat:
        chat.goal = "ship it"
        answered(chat, output)
        window = chat.messages()
        said = [entry.message.role for entry in chat.log]
    exported = json.loads(run("sessions", "export", "last").output)["messages"]
    assert exported == window
    assert exported[0]["content"].endswith("ship it")
    log = json.loads(run("sessions", "export", "last", "--log").output)["messages"]
    assert log[0]["content"] == "You are careful."
    assert said.count(Role.USER) == sum(each["role"] == "user" for each in log)


def test_the_log_of_a_branch_ends_its_parent_s_part_at_the_branch(home: Path) -> None:
    place = store_in(home)
    with conversation(place, 16, strategy="rotation") as chat:
        chat.compress()
        talk(chat, 1, 40)
        at = chat.add_user("the last shared word")
        child = chat.branch(at, keep_parent=True)
        chat.add_user("said later in the parent")
        child.add_user("said in the branch")
        name = child.id
    found = json.loads(run("sessions", "export", name, "--log").output)["messages"]
    words = [each["content"] for each in found if each["role"] == "user"]
    assert len(words) == 16 + 1 + 2
    assert words[-2:] == ["the last shared word", "said in the branch"]


def test_markdown_is_for_reading_and_its_fences_hold(home: Path) -> None:
    with conversation(store_in(home), 1, title="Fences") as chat:
        answered(chat, "```python\nprint()\n```")
    text = run("sessions", "export", "last", "--format", "markdown", "--log").text
    assert text.startswith("# Fences\n\nsession ")
    assert "## User\n\nQuestion 0: " in text
    assert "````\n```python\nprint()\n```\n````" in text


def test_an_export_goes_to_a_file_and_says_so(session: str, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    ended = run("sessions", "export", session, "-o", str(file))
    assert (ended.code, ended.text) == (0, "")
    assert ended.errors.startswith("wrote ")
    told = json.loads(run("sessions", "export", session, "-o", str(file), "--json").output)
    assert told == {
        "session": session,
        "file": str(file),
        "messages": len(json.loads(file.read_bytes())["messages"]),
    }
    assert run("sessions", "export", session, "--json").code == 2


def test_a_difference_accounts_for_every_message(session: str, home: Path) -> None:
    found = json.loads(run("sessions", "diff", session, "--json").output)
    report = found["compaction"]["report"]
    gone = len(found["folded"]) + len(found["replaced"])
    assert gone + len(found["kept"]) == report["messages_before"]
    assert found["added"]
    assert found["statements_in_window"]
    with Conversation.open(session, store=store_in(home), active=False) as chat:
        difference = chat.diff()
    assert len(difference.folded) == len(found["folded"])
    assert len(difference.stored) == len(found["statements_in_store_only"])


def test_a_difference_is_red_green_and_yellow(session: str) -> None:
    colored = run("sessions", "diff", session, env={"FORCE_COLOR": "1", "COLUMNS": "80"}).text
    plain = run("sessions", "diff", session, env={"COLUMNS": "80"}).text
    for style, words in (("31", "  - "), ("32", "  + ")):
        assert f"\x1b[{style}m{words}" in colored
    assert "\x1b" not in plain
    before, after = (
        next(line for line in plain.splitlines() if line.startswith(f"  {label} "))
        for label in ("before", "after")
    )
    assert len(after) < len(before) <= 80
    assert {"=", "-"} <= set(before.partition("[")[2])
    assert {"=", "+"} <= set(after.partition("[")[2])
    assert "-" not in after.partition("[")[2]


def test_lists_of_a_difference_can_be_short_or_complete(session: str) -> None:
    assert "more; --limit 0 lists all" in run("sessions", "diff", session, "--limit", "1").text
    full = run("sessions", "diff", session, "--limit", "0").text
    assert "--limit 0" not in full
    found = json.loads(run("sessions", "diff", session, "--json").output)
    assert full.count("\n  - ") >= len(found["folded"])


def test_there_must_have_been_such_a_compaction(session: str, home: Path) -> None:
    ended = run("sessions", "diff", session, "--number", "7")
    assert (ended.code, ended.errors) == (
        1,
        f"holdfast: session {session} has had 1 compactions, not 7\n",
    )
    with conversation(store_in(home), 1) as chat:
        other = chat.id
    ended = run("sessions", "diff", other)
    assert (ended.code, ended.errors) == (3, f"session {other} has had no compaction\n")


def test_inspect_takes_a_session_too(session: str, home: Path) -> None:
    found = json.loads(run("inspect", "last", "--json").output)
    assert (found["file"], found["format"]) == (session, "stored session")
    store = open_store(store_in(home), {})
    assert found["messages"] == len(store.window(session).entries)
    store.close()
    assert json.loads(run("inspect", session[:10], "--json").output)["file"] == session
    assert run("inspect", "lasting").errors.startswith("holdfast: cannot read lasting")


def test_a_branch_was_where_its_parent_was(home: Path) -> None:
    store = open_store(store_in(home), {})
    about = {"cwd": "/src", "git_branch": "main", "version": "2.1", "import": {"file": "/a.jsonl"}}
    store.create(Session(id="s0", source="import:pi", started=0, metadata=about))
    child = Session(
        id="s1",
        source="import:pi",
        started=1,
        parent="s0",
        fork=Fork.BRANCH,
        metadata={"git_branch": "other", "cwd": 7},
    )
    store.spawn(Spawn(child=child))
    store.close()
    lines = run("sessions", "show", "s1").text.splitlines()
    assert lines[3:7] == [
        "  agent     pi 2.1",
        "  folder    /src",
        "  branch    other",
        "  file      /a.jsonl",
    ]
    assert json.loads(run("sessions", "show", "s1", "--json").output)["places"] == {
        "folder": "/src",
        "branch": "other",
        "version": "2.1",
        "file": "/a.jsonl",
    }


def test_summaries_and_injected_words_are_not_shown_as_the_user_s(home: Path) -> None:
    store = open_store(store_in(home), {})
    store.create(Session(id="s0", source="import:pi", started=0))
    messages = (
        Message(Role.USER, (Summary("So far.", "pi"),)),
        Message(Role.USER, (Text("<system-reminder>be brief</system-reminder>"),)),
        Message(Role.USER, (Text("fix it"),)),
    )
    entries = store.append("s0", [Draft(message=each, at=0) for each in messages])
    store.close()
    found = json.loads(run("sessions", "show", "s0", "--json").output)["messages"]
    assert [(each["role"], each["speaker"], each["summary_by"]) for each in found] == [
        ("user", "summary", "pi"),
        ("user", "injected", None),
        ("user", "user", None),
    ]
    listed = [line.split() for line in run("sessions", "show", "s0").text.splitlines()[-3:]]
    assert [line[1] for line in listed] == ["summary", "injected", "user"]
    assert listed[0][3:5] == ["by", "pi"]
    heading = run("sessions", "show", "s0", "--message", str(entries[0].id)).text.splitlines()[0]
    assert heading.startswith("summary by pi: message ")
    assert heading.endswith(", role user")


def test_a_result_is_shown_with_the_name_of_its_tool(home: Path) -> None:
    with conversation(store_in(home), 1) as chat:
        number = next(each.id for each in chat.log if each.message.role is Role.TOOL)
    text = run("sessions", "show", "last", "--message", str(number)).text
    assert "[result of read call-0]" in text
