"""Commands that change a session: every one of them can be taken back, or asks first."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli.sessions.listing import unused_sessions
from holdfast.session import Draft, Fork, Session, Spawn
from holdfast.transcript import Message, Role, Text
from holdfast.wiring import Conversation, open_store
from tests.cli.running import Ended, launch, run
from tests.cli.stored import compacted, conversation, store_in, talk


@pytest.fixture
def session(home: Path) -> str:
    """Return the id of a stored session with one compaction."""
    return compacted(store_in(home))


def exported(name: str) -> object:
    return json.loads(run("sessions", "export", name).output)


def typed(answers: str, *arguments: str) -> tuple[int, str]:
    """Run a command on a terminal of its own, type answers, and return code and output."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "holdfast.cli", *arguments]
    with subprocess.Popen(
        command, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        os.close(follower)
        os.write(leader, answers.encode())
        output, _ = process.communicate(timeout=60)
        os.close(leader)
    return process.returncode, output.decode()


def test_undo_and_redo_give_back_the_exact_windows(session: str, home: Path) -> None:
    after = exported(session)
    assert run("sessions", "undo", session).code == 0
    before = exported(session)
    assert before != after
    nothing = run("sessions", "undo", session)
    assert (nothing.code, nothing.errors) == (3, f"nothing to undo in session {session}\n")
    assert json.loads(run("sessions", "redo", session, "--json").output)["done"] is True
    assert exported(session) == after
    ended = run("sessions", "redo", session, "--json")
    assert (ended.code, json.loads(ended.output)["done"]) == (3, False)
    assert "undone in session" in run("sessions", "undo", session).text
    assert "  undone    sessions redo brings" in run("sessions", "show", session).text


def test_a_rewind_is_undone_like_a_compaction(session: str) -> None:
    before = exported(session)
    ended = run("sessions", "rewind", session, "--turns", "1", "--yes", "--json")
    found = json.loads(ended.output)
    assert found["messages_before"] - found["messages_after"] == 4
    assert exported(session) != before
    assert run("sessions", "undo", session).code == 0
    assert exported(session) == before


DESTRUCTIVE = (
    ("rewind", "last"),
    ("delete", "last"),
    ("prune", "--older-than", "0s"),
    ("prune", "--empty-trash"),
)


@pytest.mark.parametrize("arguments", DESTRUCTIVE, ids=" ".join)
def test_nothing_is_taken_away_unasked_where_nobody_can_answer(
    session: str, home: Path, arguments: tuple[str, ...]
) -> None:
    if "--empty-trash" in arguments:
        run("sessions", "delete", session, "--yes")
    before = open_store(store_in(home), {})
    state = before.session(session)
    before.close()
    ended = run("sessions", *arguments)
    assert (ended.code, ended.output) == (2, b"")
    assert "Nobody can be asked here; say --yes to go ahead" in ended.errors
    after = open_store(store_in(home), {})
    assert after.session(session) == state
    after.close()


def test_a_terminal_is_asked_and_no_means_no(session: str) -> None:
    code, output = typed("n\n", "sessions", "delete", session)
    assert (code, "nothing was done" in output) == (3, True)
    assert json.loads(run("sessions", "show", session, "--json").output)["state"] == "live"
    code, output = typed("y\n", "sessions", "delete", session)
    assert (code, f"holdfast sessions restore {session}" in output) == (0, True)
    code, output = typed("y\nn\n", "sessions", "prune", "--empty-trash")
    assert (code, "This cannot be taken back" in output) == (3, True)
    assert run("sessions", "restore", session).code == 0


def test_what_was_deleted_is_out_of_sight_and_comes_back(session: str) -> None:
    before = exported(session)
    ended = run("sessions", "delete", session, "--yes")
    assert ended.text.splitlines()[1] == f"to bring it back: holdfast sessions restore {session}"
    assert json.loads(run("sessions", "list", "--json").output) == []
    (row,) = json.loads(run("sessions", "list", "--trash", "--json").output)
    assert (row["id"], row["state"]) == (session, "trash")
    assert run("sessions", "delete", session, "--yes").code == 3
    refused = run("sessions", "undo", session)
    assert (refused.code, "trash" in refused.errors) == (1, True)
    assert run("sessions", "restore", session).code == 0
    assert run("sessions", "restore", session).code == 3
    assert exported(session) == before


def test_a_whole_lineage_goes_and_comes_back_together(home: Path) -> None:
    with conversation(store_in(home), 1, title="Task") as chat:
        parent, child = chat.id, chat.branch().id
    ended = run("sessions", "delete", child, "--lineage", "--yes", "--json")
    assert json.loads(ended.output)["trashed"] == [parent, child]
    restored = run("sessions", "restore", parent, "--lineage", "--json")
    assert json.loads(restored.output)["restored"] == [parent, child]


def test_prune_takes_whole_conversations_that_nobody_used(home: Path) -> None:
    place = store_in(home)
    with conversation(place, 1, title="Old") as old:
        old_ids = {old.id, old.branch().id}
    nothing = run("sessions", "prune", "--older-than", "1d", "--yes")
    assert (nothing.code, "every conversation was used since" in nothing.errors) == (3, True)
    dry = json.loads(run("sessions", "prune", "--older-than", "0s", "--dry-run", "--json").output)
    assert (dry["done"], {each["id"] for each in dry["sessions"]}) == (False, old_ids)
    assert len(json.loads(run("sessions", "list", "--all", "--json").output)) == 2
    other = run("sessions", "prune", "--older-than", "0s", "--source", "api", "--yes")
    assert other.code == 3
    ended = run("sessions", "prune", "--older-than", "0s", "--yes")
    assert ended.code == 0
    assert "holdfast sessions restore ID" in ended.text
    assert json.loads(run("sessions", "list", "--json").output) == []
    assert run("sessions", "prune").code == 2


def test_a_used_branch_saves_the_conversation_it_came_from(home: Path) -> None:
    store = open_store(store_in(home), {})
    old = store.create(Session(id="old", source="cli", started=1_000))
    child = Session(id="child", source="cli", started=2_000, parent="old", fork=Fork.BRANCH)
    store.spawn(Spawn(child=child))
    assert unused_sessions(store, 2_000, ()) == []
    assert [each.id for each in unused_sessions(store, 2_001, ())] == [old.id, child.id]
    store.trash(["child"], 3_000)
    assert [each.id for each in unused_sessions(store, 2_000, ())] == [old.id]
    store.close()


def test_a_conversation_that_is_used_while_the_question_stands_is_left_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = store_in(home)
    store = open_store(place, {})
    for name in ("old", "used"):
        store.create(Session(id=name, source="cli", started=1_000))

    def use(*_: str, yes: bool) -> bool:
        later = Message(Role.USER, (Text("still here"),))
        store.append("used", [Draft(message=later, at=2**42)])
        return not yes

    monkeypatch.setattr("holdfast.cli.sessions.listing.agreed", use)
    ended = run("sessions", "prune", "--older-than", "1d", "--json")
    found = json.loads(ended.output)
    assert (ended.code, [each["id"] for each in found["sessions"]]) == (0, ["old"])
    assert [store.session(name).trashed is None for name in ("old", "used")] == [False, True]
    store.close()


def test_an_emptied_trash_is_gone_for_good(session: str) -> None:
    run("sessions", "delete", session, "--yes")
    young = run("sessions", "prune", "--empty-trash", "--older-than", "1d", "--yes")
    assert (young.code, young.errors) == (3, "there is nothing in the trash to delete\n")
    ended = run("sessions", "prune", "--empty-trash", "--yes")
    assert (ended.code, ended.text) == (0, "deleted 1 session for good\n")
    assert run("sessions", "restore", session).code == 1


def test_a_fork_shares_the_window_and_leaves_its_parent_alone(session: str) -> None:
    found = json.loads(run("sessions", "fork", session, "--json").output)
    assert exported(found["id"]) == exported(session)
    assert found["parent"] == session
    assert json.loads(run("sessions", "show", session, "--json").output)["state"] == "live"
    ended = run("sessions", "fork", session, "--title", "Other", "--end-parent")
    assert ended.code == 0
    assert json.loads(run("sessions", "show", session, "--json").output)["state"] == "branched"
    assert run("sessions", "fork", session, "--end-parent").code == 1
    (first, words) = ended.text.splitlines()
    assert json.loads(run("sessions", "show", first, "--json").output)["title"] == "Other"
    assert words.startswith("Other shares ")


def test_a_fork_may_begin_at_a_message_that_was_folded(session: str, home: Path) -> None:
    log = run("sessions", "show", session, "--all", "--limit", "0", "--json")
    entries = json.loads(log.output)["messages"]
    at = entries[8]["id"]
    shown = json.loads(run("sessions", "show", session, "--limit", "0", "--json").output)
    assert at not in {each["id"] for each in shown["messages"]}
    found = json.loads(run("sessions", "fork", session, "--at", str(at), "--json").output)
    assert found["messages"] == 9
    with conversation(store_in(home), 1) as other:
        elsewhere = other.add_user("not here").id
    ended = run("sessions", "fork", session, "--at", str(elsewhere))
    assert ended.code == 1
    assert f"it was said in session {other.id}, which can be forked instead" in ended.errors


def test_titles_goals_and_pins_are_set_shown_and_taken_away(session: str) -> None:
    assert "is now called Billing" in run("sessions", "rename", session, "Billing").text
    assert run("sessions", "goal", session).code == 3
    assert run("sessions", "goal", session, "ship it").text == "ship it\n"
    assert json.loads(run("sessions", "goal", session, "--json").output)["goal"] == "ship it"
    assert run("sessions", "goal", session, "x", "--clear").code == 2
    assert run("sessions", "goal", session, "--clear").code == 0
    assert run("sessions", "goal", session).code == 3
    assert run("sessions", "pin", session).code == 3
    message = json.loads(run("sessions", "show", session, "--json").output)["messages"][-1]["id"]
    assert "pinned" in run("sessions", "pin", session, str(message)).text
    listed = json.loads(run("sessions", "pin", session, "--json").output)
    assert [each["id"] for each in listed["pins"]] == [message]
    assert run("sessions", "pin", session, str(message), "--remove").code == 0
    assert run("sessions", "pin", session).code == 3
    assert run("sessions", "pin", session, "--remove").code == 2


def test_a_pin_of_what_was_folded_is_told_to_bring_nothing_back(session: str) -> None:
    folded = json.loads(run("sessions", "diff", session, "--json").output)["folded"][0]["id"]
    said = f"message {folded} is not in the window, and its pin does not bring it back\n"
    assert run("sessions", "pin", session, str(folded)).errors == said
    assert run("sessions", "pin", session, str(folded), "--remove").errors == (
        f"nothing is pinned in session {session}\n"
    )


def test_a_message_of_another_conversation_cannot_be_pinned(session: str, home: Path) -> None:
    with conversation(store_in(home), 1) as other:
        message = other.add_user("elsewhere").id
    ended = run("sessions", "pin", session, str(message))
    assert (ended.code, ended.errors) == (
        1,
        f"holdfast: message {message} belongs to session {other.id}, not to {session}\n",
    )


def test_an_end_can_be_taken_back(session: str) -> None:
    assert run("sessions", "end", session).text == f"ended session {session}\n"
    assert run("sessions", "end", session).code == 3
    assert run("sessions", "rewind", session, "--yes").code == 1
    assert run("sessions", "end", session, "--reopen").text == f"reopened session {session}\n"
    assert run("sessions", "end", session, "--reopen").code == 3


def test_a_compression_says_what_happened(home: Path) -> None:
    with conversation(store_in(home), 16) as chat:
        name = chat.id
    ended = run("sessions", "compress", name, "--context-length", "8000", "--focus", "ports")
    assert ended.code == 0
    assert ended.text.startswith("Compressed: 65 -> ")
    assert "tokens (-" in ended.text
    record = json.loads(run("sessions", "diff", name, "--json").output)["compaction"]
    assert (record["trigger"], record["focus"]) == ("manual", "ports")
    with conversation(store_in(home), 1) as small:
        again = run("sessions", "compress", small.id, "--json")
    assert json.loads(again.output)["feedback"][0].startswith("Nothing was compressed: ")
    assert again.code == 3


def test_a_compression_without_its_model_says_so_once_for_people_and_for_scripts(
    home: Path,
) -> None:
    env = {"HOLDFAST_AUXILIARY_COMPRESSION_BASE_URL": "http://127.0.0.1:9/v1"}
    with conversation(store_in(home), 16) as chat:
        name = chat.id
    flags = (name, "--context-length", "8000", "--summarizer", "m")
    ended = launch("sessions", "compress", *flags, env=env)
    assert (ended.code, ended.errors) == (0, "")
    assert ended.text.count("Warning: m is unavailable") == 1
    run("sessions", "undo", name)
    report = json.loads(run("sessions", "compress", *flags, "--json", env=env).output)
    (warning,) = report["warnings"]
    assert warning.startswith("m is unavailable")
    assert f"Warning: {warning}." in report["feedback"]


def test_a_rotation_says_where_the_conversation_goes_on(home: Path) -> None:
    with conversation(store_in(home), 16, title="Task") as chat:
        name = chat.id
    env = {"HOLDFAST_COMPRESSION_STRATEGY": "rotation"}
    ended: Ended = run("sessions", "compress", name, "--context-length", "8000", env=env)
    (row,) = json.loads(run("sessions", "list", "--json").output)
    assert (row["parent"], row["title"]) == (name, "Task #2")
    assert f"goes on in session {row['id']}." in ended.text
    moved = run("sessions", "undo", name)
    assert moved.errors == f"session {name} goes on in {row['id']}\n"
    assert moved.code == 0


def test_a_backup_is_a_store_and_never_replaces_a_file_unasked(
    session: str, tmp_path: Path, home: Path
) -> None:
    copy = tmp_path / "deep" / "copy.db"
    assert json.loads(run("sessions", "backup", str(copy), "--json").output) == {
        "file": str(copy),
        "bytes": copy.stat().st_size,
        "replaced": False,
    }
    assert copy.stat().st_mode & 0o777 == 0o600
    listed = run("sessions", "list", "--json", env={"HOLDFAST_STORE_URL": str(copy)})
    assert [each["id"] for each in json.loads(listed.output)] == [session]
    refused = run("sessions", "backup", str(copy))
    assert refused.code == 2
    assert f"{copy} exists. Replace it? Nobody can be asked here" in refused.errors
    replaced = run("sessions", "backup", str(copy), "--yes")
    assert replaced.code == 0
    assert "in place of the file that was there" in replaced.text
    made = run("sessions", "backup", str(tmp_path / "new" / "copy.db"))
    assert f"made the folder {tmp_path / 'new'}" in made.text
    assert run("sessions", "backup", str(store_in(home)), "--yes").code == 1
    assert run("sessions", "backup", str(tmp_path)).code == 1


def test_a_session_goes_on_after_all_of_it(session: str, home: Path) -> None:
    for step in (["undo"], ["redo"], ["rewind", "--yes"], ["undo"]):
        assert run("sessions", step[0], session, *step[1:]).code == 0
    with Conversation.open(session, store=store_in(home), active=False) as chat:
        talk(chat, 1, 200)
        assert chat.id == session
