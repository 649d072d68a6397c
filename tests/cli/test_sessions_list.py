"""`holdfast sessions list`, and how a session is found by what somebody types."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.session import Fork, Session, Spawn
from holdfast.wiring import open_store
from tests.cli.running import launch, run
from tests.cli.stored import conversation, store_in, talk


def listed(*arguments: str) -> list[dict[str, object]]:
    ended = run("sessions", "list", *arguments, "--json")
    assert ended.code == 0
    return json.loads(ended.output)


def sessions_with(home: Path, *ids: str, title: str = "") -> None:
    store = open_store(store_in(home), {})
    for number, id_ in enumerate(ids):
        store.create(Session(id=id_, source="cli", started=1_000 * (number + 1), title=title))
    store.close()


def test_without_a_store_it_says_so_and_makes_none(home: Path) -> None:
    ended = run("sessions", "list")
    assert (ended.code, ended.text) == (0, "")
    assert ended.errors == f"there are no sessions yet: {store_in(home)} does not exist\n"
    assert listed() == []
    assert list(home.iterdir()) == []


def test_an_empty_store_is_a_sentence_for_people_and_a_list_for_programs(home: Path) -> None:
    sessions_with(home)
    ended = run("sessions", "list")
    assert (ended.code, ended.text) == (0, "")
    assert ended.errors == f"there are no sessions yet in {store_in(home)}\n"
    assert listed() == []
    assert "the trash of" in run("sessions", "list", "--trash").errors
    assert "no session of" in run("sessions", "list", "--title", "x").errors


def test_a_conversation_is_one_line_with_its_newest_session(home: Path) -> None:
    with conversation(store_in(home), title="Task") as chat:
        child = chat.branch()
        talk(child, 1, 50)
        child.delegate("look at the tests")
        (row,) = listed()
        assert (row["id"], row["title"], row["sessions"]) == (child.id, "Task #2", 3)
        every = listed("--all")
        assert {each["fork"] for each in every} == {None, "branch", "delegation"}
        assert [each["source"] for each in listed("--source", "subagent")] == ["subagent"]


def test_the_newest_come_first_and_the_limit_counts_conversations(home: Path) -> None:
    ids = [f"2026111{day}_120000_00000{day}" for day in range(1, 5)]
    sessions_with(home, *ids)
    assert [each["id"] for each in listed("--limit", "2")] == [ids[3], ids[2]]
    assert [each["id"] for each in listed("--until", "1970-01-02", "--since", "1970-01-01")] == (
        ids[::-1]
    )
    assert listed("--since", "1d") == []


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("color", ["", "1"])
def test_no_line_is_wider_than_the_terminal(home: Path, columns: int, color: str) -> None:
    sessions_with(home, "20261116_120000_000001", title="日本語のタイトル " * 20)
    env = {"COLUMNS": str(columns), "FORCE_COLOR": color}
    ended = run("sessions", "list", env=env)
    assert ("\x1b[" in ended.text) == bool(color)
    heading, line = re.sub(r"\x1b\[[0-9;]*m", "", ended.text).splitlines()
    assert "title" in heading
    assert sum(2 if ord(sign) > 0x2E80 else 1 for sign in line) <= columns


def test_another_profile_has_its_own_sessions(home: Path) -> None:
    conversation(store_in(home, "work")).close()
    assert listed() == []
    assert len(listed("--profile", "work")) == 1
    absent = run("sessions", "show", "last", "--profile", "other")
    assert absent.code == 1
    assert absent.errors.endswith("does not exist; profiles with sessions: work\n")
    escaped = run("sessions", "list", "--profile", "../work")
    assert escaped.code == 2


def test_a_session_is_found_by_the_beginning_or_the_random_end_of_its_id(home: Path) -> None:
    sessions_with(home, "20261115_120000_aaaaaa", "20261116_120000_bbbbbb")
    for name in ("20261116", "bbbbbb", "last", "20261116_120000_bbbbbb"):
        found = json.loads(run("sessions", "show", name, "--json").output)
        assert found["id"] == "20261116_120000_bbbbbb"


def test_what_may_mean_several_sessions_names_them(home: Path) -> None:
    sessions_with(home, "20261115_120000_aaaaaa", "20261115_120000_bbbbbb", title="Billing")
    ended = run("sessions", "show", "20261115")
    assert (ended.code, ended.output) == (1, b"")
    assert ended.errors == (
        "holdfast: 20261115 may mean 2 sessions: 20261115_120000_bbbbbb (Billing), "
        "20261115_120000_aaaaaa (Billing)\n"
    )


def test_an_unknown_session_is_a_sentence_that_helps(home: Path) -> None:
    sessions_with(home, "20261115_120000_aaaaaa", title="The billing bug")
    assert run("sessions", "show", "bill").errors == (
        "holdfast: there is no session 'bill'; by their titles: "
        "20261115_120000_aaaaaa (The billing bug)\n"
    )
    ended = run("sessions", "show", "zzz")
    assert (ended.code, ended.errors) == (
        1,
        "holdfast: there is no session 'zzz'; holdfast sessions list shows what there is\n",
    )
    assert run("sessions", "show", "").code == 1


def test_a_misspelled_command_gets_the_nearest_one() -> None:
    ended = run("sessions", "lst")
    assert ended.code == 2
    assert ended.errors.startswith("holdfast: there is no command 'lst'; did you mean list?")


def test_a_list_needs_neither_engines_nor_codecs(home: Path) -> None:
    sessions_with(home, "20261115_120000_aaaaaa")
    probe = (
        "import sys, holdfast.cli.root as it\n"
        "try: it.root(['sessions', 'list'])\n"
        "except SystemExit: pass\n"
        "slow = ('engines', 'compaction', 'conversation', 'summary', 'wire', 'formats')\n"
        "print([each for each in slow if f'holdfast.{each}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[-1] == "[]"


def test_a_damaged_store_is_a_sentence_that_says_what_to_do(home: Path) -> None:
    place = store_in(home)
    conversation(place).close()
    place.write_bytes(b"x" * 5_000)
    ended = launch("sessions", "list")
    assert (ended.code, ended.output) == (1, b"")
    assert ended.errors.startswith(f"holdfast: {place} is damaged")
    assert "holdfast doctor --repair" in ended.errors
    assert ended.errors.count("\n") == 1


def imported(home: Path, *sessions: Session) -> None:
    store = open_store(store_in(home), {})
    for session in sessions:
        if session.parent is None:
            store.create(session)
        else:
            store.spawn(Spawn(child=session))
    store.close()


TOLD = Session(
    id="20261116_120000_000001",
    source="import:claude-code",
    started=0,
    title="Explain the cache of the parser and why it forgets what it read",
    model="a-vendor/a-model-with-a-long-name-20261116",
)


def test_titles_come_before_models_and_names_are_short(home: Path) -> None:
    imported(home, TOLD)
    narrow = run("sessions", "list", env={"COLUMNS": "80"}).text.splitlines()
    assert narrow[0].split() == ["id", "used", "from", "title"]
    assert "  claude-code  Explain the cache of" in narrow[1]
    wide = run("sessions", "list", env={"COLUMNS": "130"}).text.splitlines()
    assert wide[0].split() == ["id", "used", "from", "model", "entries", "title"]
    assert "  a-vendor/…e-20261116  " in wide[1]


def test_nothing_is_cut_in_a_pipe(home: Path) -> None:
    imported(home, TOLD)
    _, line = run("sessions", "list", env={"COLUMNS": None}).text.splitlines()
    assert line.endswith(TOLD.title)
    assert TOLD.model in line


def test_a_long_title_is_shown_cut_and_kept_whole(home: Path) -> None:
    imported(home, TOLD)
    shown = run("sessions", "show", "last", env={"COLUMNS": "120"}).text.splitlines()[0]
    assert shown == "Explain the cache of the parser and why it forgets what it…"
    (row,) = listed()
    assert row["title"] == TOLD.title


def test_a_sub_agent_does_not_stand_for_the_conversation_that_sent_it(home: Path) -> None:
    child = Session(
        id="20261116_120000_000002",
        source="import:claude-code",
        started=9_000,
        parent=TOLD.id,
        fork=Fork.DELEGATION,
    )
    imported(home, TOLD, child)
    for flags in ((), ("--source", "import"), ("--source", "claude-code")):
        assert [(each["id"], each["sessions"]) for each in listed(*flags)] == [(TOLD.id, 2)]
    assert [each["id"] for each in listed("--all")] == [child.id, TOLD.id]
