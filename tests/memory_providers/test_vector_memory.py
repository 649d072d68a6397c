"""The memory on this machine: found by meaning, kept once, shared by processes."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import MemoryUnavailable
from holdfast.memory_providers.vector_memory import VectorFile, VectorMemory
from holdfast.testing import FixedClock
from holdfast.testing.builders import assistant, user
from tests.memory_providers.minilm import FOLDER, embedder, needs_minilm

pytestmark = needs_minilm
DAY = 86_400.0


def clock() -> FixedClock:
    return FixedClock(1_793_700_000)


def memory_in(folder: Path, given: FixedClock | None = None) -> VectorMemory:
    return VectorMemory(VectorFile(folder / "vectors.db"), embedder(), given or clock())


def told(folder: Path, *exchanges: tuple[str, str]) -> None:
    """Let an earlier conversation say this."""
    earlier = memory_in(folder)
    for question, answer in exchanges:
        earlier.sync(question, answer)
    earlier.shutdown()


def texts(answer: str) -> list[str]:
    return [each["text"] for each in json.loads(answer)["results"]]


def test_an_empty_memory_knows_nothing_and_writes_nothing(tmp_path: Path) -> None:
    memory = memory_in(tmp_path)
    assert memory.prefetch("anything at all") == ""
    assert json.loads(memory.call("memory_search", {"query": "anything"})) == {"results": []}
    memory.sync("", "ok")
    assert list(tmp_path.iterdir()) == []


def test_what_an_earlier_conversation_said_is_found_by_meaning(tmp_path: Path) -> None:
    told(
        tmp_path,
        ("The staging database listens on port 5433.", "Noted, port 5433 for staging."),
        ("My sister's birthday is on the third of May.", "How nice, I will remember."),
        ("Please translate the menu into Italian.", "Ecco il menu tradotto."),
    )
    found = memory_in(tmp_path).prefetch("Which port does the database in staging use?")
    lines = found.splitlines()
    assert "user: The staging database listens on port 5433." in lines[0] + lines[1]
    assert lines[0].startswith("- 2026-")
    assert "sister" not in found
    assert "menu" not in found


def test_what_stands_in_the_window_is_not_recalled_until_it_is_folded(tmp_path: Path) -> None:
    memory = memory_in(tmp_path)
    words = "The staging database listens on port 5433."
    memory.sync(words, "")
    question = "Which port does the staging database use?"
    assert memory.prefetch(question) == ""
    assert texts(memory.call("memory_search", {"query": question})) == [f"user: {words}"]
    memory.on_session_switch("a", "b", "compression")
    assert memory.prefetch(question) == ""
    assert memory.on_pre_compress((user(words), assistant("Noted."))) == ""
    assert words in memory.prefetch(question)


def test_what_the_user_took_back_is_not_recalled(tmp_path: Path) -> None:
    memory = memory_in(tmp_path)
    memory.sync("The staging database listens on port 5433.", "")
    memory.on_session_switch("a", "a", "rewind", rewound=True)
    assert memory.prefetch("Which port does the staging database use?") == ""


@pytest.mark.parametrize("reason", ["branched", "reset"])
def test_another_conversation_recalls_what_this_one_said(tmp_path: Path, reason: str) -> None:
    memory = memory_in(tmp_path)
    memory.sync("The staging database listens on port 5433.", "")
    memory.on_session_switch("a", "b", reason)
    assert "5433" in memory.prefetch("Which port does the staging database use?")


def test_equal_words_are_kept_once_and_were_said_last(tmp_path: Path) -> None:
    calendar = clock()
    memory = memory_in(tmp_path, calendar)
    memory.sync("We deploy on Tuesdays, never on Fridays.", "")
    calendar.advance(3 * DAY)
    memory.sync("We deploy on Tuesdays, never on Fridays.", "")
    with closing(sqlite3.connect(tmp_path / "vectors.db")) as file:
        assert file.execute("SELECT count(*), max(at) FROM passages").fetchall() == [
            (1, calendar.moment())
        ]


@pytest.mark.parametrize(("days", "first"), [(1, "assistant"), (-1, "user")])
def test_of_equally_good_memories_the_newer_comes_first(
    tmp_path: Path, days: int, first: str
) -> None:
    calendar = clock()
    memory = memory_in(tmp_path, calendar)
    memory.sync("The office is on floor 3 of the tower.", "")
    calendar.advance(days * DAY)
    memory.sync("", "The office is on floor 3 of the tower.")
    found = texts(memory.call("memory_search", {"query": "On which floor is the office?"}))
    assert [each.partition(":")[0] == first for each in found] == [True, False]


def test_secrets_are_not_kept(tmp_path: Path) -> None:
    secret = "ghp_" + "R7kq2ZxW9bTn4VsL8mYcP3dHf6JgA1eQuI0o"
    told(tmp_path, (f"My token is {secret}, keep it safe.", "I will not repeat it."))
    assert secret.encode() not in (tmp_path / "vectors.db").read_bytes()


def test_a_limit_holds(tmp_path: Path) -> None:
    told(tmp_path, *((f"The server number {n} is in Oslo.", "") for n in range(12)))
    memory = memory_in(tmp_path)
    assert len(memory.prefetch("Where are the servers?").splitlines()) == 6
    found = memory.call("memory_search", {"query": "Where are the servers?", "limit": 9})
    assert len(texts(found)) == 9


def test_what_another_instance_adds_is_seen(tmp_path: Path) -> None:
    told(tmp_path, ("The cat is called Mira.", ""))
    memory = memory_in(tmp_path)
    assert "Mira" in memory.prefetch("What is the name of the cat?")
    told(tmp_path, ("The dog is called Bruno.", ""))
    assert "Bruno" in memory.prefetch("What is the name of the dog?")


def test_a_file_that_is_taken_away_is_forgotten(tmp_path: Path) -> None:
    told(tmp_path, ("The cat is called Mira.", ""), ("The dog is called Bruno.", ""))
    memory = memory_in(tmp_path)
    assert "Mira" in memory.prefetch("What is the name of the cat?")
    (tmp_path / "vectors.db").unlink()
    assert memory.prefetch("What is the name of the cat?") == ""
    told(tmp_path, ("The parrot is called Kiki.", ""))
    assert "Kiki" in memory.prefetch("What is the name of the parrot?")


WRITER = """
import sys
from pathlib import Path
from holdfast.memory_providers.embedding import Embedder
from holdfast.system import SystemClock
from holdfast.memory_providers.vector_memory import VectorFile
from holdfast.memory_providers.vector_memory import VectorMemory
memory = VectorMemory(VectorFile(Path(sys.argv[1])), Embedder(Path(sys.argv[2])), SystemClock())
for number in range(4):
    memory.sync(f"Process {sys.argv[3]} says sentence {number}.", "The same for all of them.")
"""


def test_several_processes_append_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(FOLDER), str(number)])
        for number in range(2)
    ]
    assert [each.wait(100) for each in writers] == [0, 0]
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT count(*) FROM passages").fetchone() == (9,)
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_file_that_is_none_is_a_sentence_and_stays_as_it_is(tmp_path: Path) -> None:
    content = b"this is no database, but long enough" * 50
    path = tmp_path / "vectors.db"
    path.write_bytes(content)
    says = r"vectors\.db is damaged .*; move it away"
    with pytest.raises(MemoryUnavailable, match=says):
        memory_in(tmp_path).prefetch("a")
    with pytest.raises(MemoryUnavailable, match=says):
        told(tmp_path, ("The cat is called Mira.", ""))
    assert path.read_bytes() == content


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "vectors.db")) as file:
        file.execute("CREATE TABLE passages (id)")
        file.commit()
    with pytest.raises(MemoryUnavailable, match="was written by another program"):
        memory_in(tmp_path).prefetch("a")


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    told(tmp_path, ("The cat is called Mira.", ""))
    with closing(sqlite3.connect(tmp_path / "vectors.db")) as file:
        file.execute("PRAGMA user_version = 2")
    with pytest.raises(MemoryUnavailable, match="was written by a newer version of holdfast"):
        memory_in(tmp_path).prefetch("a")


def test_a_folder_in_its_place_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "vectors.db").mkdir()
    with pytest.raises(MemoryUnavailable, match=r"vectors\.db cannot be "):
        memory_in(tmp_path).prefetch("a")


def test_a_file_in_place_of_its_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "memories").write_text("x", "utf-8")
    with pytest.raises(MemoryUnavailable, match=r"vectors\.db cannot be used"):
        told(tmp_path / "memories", ("The cat is called Mira.", ""))


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    told(tmp_path / "profile", ("The cat is called Mira.", ""))
    assert (tmp_path / "profile" / "vectors.db").stat().st_mode & 0o077 == 0
    assert (tmp_path / "profile").stat().st_mode & 0o077 == 0


def test_an_unknown_tool_is_refused(tmp_path: Path) -> None:
    memory = memory_in(tmp_path)
    assert [each.name for each in memory.tools()] == ["memory_search"]
    with pytest.raises(NotImplementedError, match="vector has no tool"):
        memory.call("memory_forget", {})
