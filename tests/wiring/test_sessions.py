"""Programs look after stored sessions as the command line does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import ConfigError, UnknownSession
from holdfast.session import Draft, Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.system import SystemClock
from holdfast.transcript import Message, Role, Text
from holdfast.wiring.sessions import SessionCatalog
from tests.cli.running import run

DAY = 86_400_000
APP = {"cwd": "/work/app/server", "git_branch": "main"}


@pytest.fixture(params=["sqlite", "memory"])
def sessions(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SessionCatalog]:
    store = SqliteStore(tmp_path / "s.db") if request.param == "sqlite" else MemoryStore()
    now = SystemClock().moment()
    for number, (source, model, metadata, text) in enumerate(
        [
            ("import:codex", "gpt-5.5", APP, "edit src/app.py please"),
            ("import:claude-code", "claude-opus", {"cwd": "/work/site"}, "write the page"),
            ("cli", "gpt-5", {"cwd": "/work/app", "git_branch": "dev"}, "look at src/other.py"),
        ]
    ):
        at = now - (3 - number) * DAY
        id_ = f"2026111{number}_090000_00000{number}"
        store.create(
            Session(
                id=id_,
                source=source,
                started=at,
                model=model,
                metadata=metadata,
                title=f"Task {number}",
            )
        )
        store.append(id_, [Draft(message=Message(Role.USER, (Text(text),)), at=at)])
    with holdfast.sessions(store) as opened:
        yield opened
    store.close()


def numbers(found: tuple[Session, ...]) -> list[int]:
    return [int(each.id[-1]) for each in found]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, [2, 1, 0]),
        ({"project": "/work/app"}, [2, 0]),
        ({"project": Path("/work/app/server")}, [0]),
        ({"project": "site"}, [1]),
        ({"agent": "codex"}, [0]),
        ({"branch": "main"}, [0]),
        ({"file": "src/app.py"}, [0]),
        ({"file": "app.py"}, [0]),
        ({"model": "GPT-5"}, [2, 0]),
        ({"since": "36h"}, [2]),
        ({"until": "60h"}, [0]),
        ({"title": "task 1"}, [1]),
        ({"limit": 1}, [2]),
        ({"limit": 1, "offset": 1}, [1]),
        ({"limit": 1, "offset": 1, "every": True}, [1]),
        ({"limit": None, "offset": 2}, [0]),
    ],
)
def test_sessions_are_filtered_and_paged(
    sessions: SessionCatalog, wanted: dict[str, str], found: list[int]
) -> None:
    assert numbers(sessions.list(**wanted)) == found  # type: ignore[arg-type]


def test_a_filter_that_cannot_be_understood_is_a_sentence(sessions: SessionCatalog) -> None:
    with pytest.raises(ConfigError, match="did you mean project"):
        sessions.list(projekt="x")  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="'soon' is no time; write a date"):
        sessions.list(since="soon")
    with pytest.raises(ConfigError, match=r"there is no format 'word'; there are: .*markdown"):
        sessions.export("last", "word")
    with pytest.raises(UnknownSession, match="there is no session 'nobody'"):
        sessions.get("nobody")


def test_a_session_is_exported_deleted_restored_and_purged(sessions: SessionCatalog) -> None:
    last = sessions.get("last").id
    assert "look at src/other.py" in sessions.export("last")
    assert '"role":"user"' in sessions.export(last, "openai").replace(" ", "")
    assert sessions.delete(last) == (last,)
    assert sessions.delete(last) == ()
    assert numbers(sessions.list()) == [1, 0]
    assert numbers(sessions.list(trash=True)) == [2]
    assert sessions.restore(last) == (last,)
    with pytest.raises(ConfigError, match="is not in the trash; delete it first"):
        sessions.purge(last)
    sessions.delete(last)
    assert sessions.purge() == (last,)
    assert numbers(sessions.list(trash=True)) == []


def test_a_registry_of_conversations_has_its_sessions(tmp_path: Path) -> None:
    with holdfast.Conversations(tmp_path / "s.db", context_length=50_000) as conversations:
        conversations.open("user-42").add_user("hello")
        (session,) = conversations.sessions.list()
        assert session.key == "user-42"


def test_the_command_line_filters_and_pages_as_the_library_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_STORE_URL", str(tmp_path / "s.db"))
    with holdfast.Conversation.open(store=tmp_path / "s.db", context_length=50_000) as chat:
        chat.add_user("edit src/app.py")
    for flags, count in (
        (("--file", "src/app.py"), 1),
        (("--file", "src/else.py"), 0),
        (("--project", "/nowhere"), 0),
        (("--branch", "main"), 0),
        (("--agent", "cli"), 0),
        (("--offset", "1"), 0),
    ):
        listed = run("sessions", "list", "--json", *flags).json
        assert isinstance(listed, list)
        assert len(listed) == count, flags
