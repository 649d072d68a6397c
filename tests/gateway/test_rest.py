import json
import threading
from collections.abc import Generator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from holdfast.wiring import Conversation
from tests.cli.running import run
from tests.cli.stored import compacted, conversation, store_in
from tests.gateway.serving import Client, serving

MISSING = "20200101_000000_000000"


@pytest.fixture
def client(tmp_path: Path) -> Generator[Client]:
    with serving(tmp_path) as found:
        yield found


@pytest.fixture
def chat(tmp_path: Path) -> Generator[Conversation]:
    with conversation(store_in(tmp_path), 3) as found:
        yield found


def test_sessions_are_listed_by_pages(client: Client, tmp_path: Path) -> None:
    ids: list[str] = []
    for turns in (1, 2, 3):
        with conversation(store_in(tmp_path), turns, title=f"Talk {turns}") as chat:
            ids.insert(0, chat.id)
    first = client.get("/api/sessions?limit=2").json
    assert [each["id"] for each in first["sessions"]] == ids[:2]
    assert first["next_offset"] == 2
    second = client.get("/api/sessions?limit=2&offset=2").json
    assert [each["id"] for each in second["sessions"]] == ids[2:]
    assert second["next_offset"] is None
    titled = client.get("/api/sessions?title=talk%202").json["sessions"]
    assert [each["id"] for each in titled] == [ids[1]]
    assert client.get("/api/sessions?source=nowhere").json["sessions"] == []
    assert len(client.get("/api/sessions?model=GPT&file=m_1.py").json["sessions"]) == 2
    assert client.get("/api/sessions?model=claude").json["sessions"] == []
    assert client.get("/api/sessions?project=nowhere").json["sessions"] == []
    assert client.get("/api/sessions?since=1h").json["sessions"]
    assert client.get("/api/sessions?until=2020-01-01T00:00:00Z").json["sessions"] == []


def test_a_session_is_what_the_command_line_shows(
    client: Client, chat: Conversation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    for path, arguments in {
        f"/api/sessions/{chat.id}": ["show", chat.id],
        f"/api/sessions/{chat.id}?scope=all&limit=2": ["show", chat.id, "--all", "--limit", "2"],
        f"/api/sessions/{chat.id}/lineage?views=true": ["tree", chat.id, "--views"],
        f"/api/sessions/{chat.id}/pin": ["pin", chat.id],
    }.items():
        printed = run("sessions", *arguments, "--json")
        answer = client.get(path)
        assert answer.json == json.loads(printed.text)
        assert answer.headers["x-holdfast-session"] == chat.id
    listed = json.loads(run("sessions", "list", "--json").text)
    assert client.get("/api/sessions").json["sessions"] == listed


def test_messages_come_in_pages_with_their_words_if_asked(
    client: Client, chat: Conversation
) -> None:
    path = f"/api/sessions/{chat.id}/messages"
    page = client.get(f"{path}?limit=2").json
    assert (page["total"], page["next_offset"], len(page["messages"])) == (13, 2, 2)
    assert "text" not in page["messages"][0]
    second = client.get(f"{path}?limit=1&offset=1&text=true").json["messages"][0]
    assert second["text"].startswith("Question 0")
    whole = client.get(f"{path}/{second['id']}?whole=true").json
    assert whole == second
    assert client.get(f"{path}/999999").error == (404, "not_found")
    assert client.get(f"{path}/many").error == (400, "bad_request")


@pytest.mark.parametrize("dialect", ["openai", "responses", "anthropic", "gemini"])
def test_a_window_is_given_in_the_words_of_every_provider(
    client: Client, chat: Conversation, dialect: str
) -> None:
    found = client.get(f"/api/sessions/{chat.id}/window?format={dialect}").json
    assert found["messages"] == chat.messages(dialect)
    assert found["window"]["messages"] == len(found["entries"]) == 13


def test_a_compaction_is_awaited_listed_compared_and_undone(client: Client, tmp_path: Path) -> None:
    with conversation(store_in(tmp_path), 16) as chat:
        path = f"/api/sessions/{chat.id}"
    before = client.get(f"{path}/window").json
    report = client.post(f"{path}/compress", {"focus": "port 8003"}).json
    assert report["outcome"] == "folded"
    assert report["feedback"]
    (record,) = client.get(f"{path}/compactions").json["compactions"]
    assert record["focus"] == "port 8003"
    diff = client.get(f"{path}/compactions/1").json
    assert diff["folded"]
    assert diff["record"]
    assert client.get(f"{path}/compactions/2").error == (404, "not_found")
    assert client.post(f"{path}/undo").json["done"]
    assert client.get(f"{path}/window").json["messages"] == before["messages"]
    assert client.post(f"{path}/redo").json["done"]
    assert not client.post(f"{path}/redo").json["done"]


def test_turns_are_rewound_and_brought_back(client: Client, chat: Conversation) -> None:
    path = f"/api/sessions/{chat.id}"
    step = client.post(f"{path}/rewind", {"turns": 2}).json
    assert (step["messages_before"], step["messages_after"]) == (13, 5)
    assert client.post(f"{path}/undo").json["messages_after"] == 13
    assert client.post(f"{path}/rewind", {"turns": 0}).error == (400, "bad_request")


def test_a_fork_shares_what_was_said_and_lets_its_parent_live(
    client: Client, chat: Conversation
) -> None:
    path = f"/api/sessions/{chat.id}"
    entries = client.get(f"{path}/messages").json["messages"]
    made = client.post(f"{path}/fork", {"at": entries[4]["id"], "title": "Elsewhere"})
    assert made.status == 201
    fork = made.json
    assert (fork["parent"], fork["title"], fork["messages"]) == (chat.id, "Elsewhere", 5)
    tree = client.get(f"{path}/lineage").json
    assert {each["id"] for each in tree["sessions"]} == {chat.id, fork["id"]}
    assert client.get(path).json["state"] == "live"
    ended = client.post(f"{path}/fork", {"end_parent": True})
    assert ended.status == 201
    assert client.get(path).json["state"] == "branched"
    # A session that has ended is forked all the same.
    assert client.post(f"{path}/fork").status == 201


def test_goal_title_and_pins_are_set(client: Client, chat: Conversation) -> None:
    path = f"/api/sessions/{chat.id}"
    assert client.post(f"{path}/goal", {"goal": " Ship it "}).json["goal"] == "Ship it"
    assert client.get(path).json["goal"] == "Ship it"
    assert client.post(f"{path}/goal", {"goal": ""}).json["goal"] == ""
    assert client.post(f"{path}/goal").error == (400, "bad_request")
    assert client.post(f"{path}/rename", {"title": "Other"}).json["title"] == "Other"
    message = client.get(f"{path}/messages").json["messages"][1]["id"]
    pins = client.post(f"{path}/pin", {"message": message}).json["pins"]
    assert [each["id"] for each in pins] == [message]
    assert client.post(f"{path}/pin", {"message": message, "pinned": False}).json["pins"] == []


def test_a_message_of_another_conversation_is_unknown(
    client: Client, chat: Conversation, tmp_path: Path
) -> None:
    with conversation(store_in(tmp_path), 1) as other:
        message = other.log.entries()[-1].id
    path = f"/api/sessions/{chat.id}"
    assert client.post(f"{path}/pin", {"message": message}).error == (404, "not_found")
    assert client.post(f"{path}/fork", {"at": message}).error == (404, "not_found")
    assert client.get(f"{path}/messages/{message}").error == (404, "not_found")


def test_what_is_deleted_is_out_of_sight_until_it_is_restored(
    client: Client, chat: Conversation
) -> None:
    path = f"/api/sessions/{chat.id}"
    assert client.ask("DELETE", path).json == {"trashed": [chat.id]}
    assert client.get("/api/sessions").json["sessions"] == []
    assert client.get("/api/search?q=question").json["results"] == []
    assert len(client.get("/api/sessions?trash=true").json["sessions"]) == 1
    for method, more in (("GET", ""), ("POST", "/rewind"), ("POST", "/fork"), ("DELETE", "")):
        answer = client.ask(method, path + more)
        assert answer.error == (404, "not_found")
        assert "restore it" in answer.json["error"]["message"]
    assert client.post(f"{path}/restore").json == {"restored": [chat.id]}
    assert client.get("/api/search?q=question").json["results"]


def test_search_finds_what_was_folded_and_takes_any_text(client: Client, tmp_path: Path) -> None:
    id_ = compacted(store_in(tmp_path))
    found = client.get("/api/search?q=question+3+port").json
    assert found["results"][0]["session_id"] == id_
    inside = client.get(f"/api/search?q=port&session={id_}&role=user&sort=newest").json
    assert inside["passages"]
    assert client.get("/api/search?q=port&offset=1").json["results"] == []
    for query in ('"', "AND+OR", "%00", "%F0%9F", "*", "a" * 1_000):
        assert client.get(f"/api/search?q={query}").status == 200
    assert client.get("/api/search").error == (400, "bad_request")
    assert client.get("/api/search?q=x&profile=other").error == (400, "bad_request")
    assert client.get(f"/api/search?q=x&session={MISSING}").error == (404, "not_found")


def test_figures_add_up(client: Client, tmp_path: Path) -> None:
    compacted(store_in(tmp_path))
    found = client.get("/api/stats").json
    assert (found["sessions"], found["conversations"], found["compactions"]) == (1, 1, 1)
    assert found["sources"] == {"cli": 1}


def test_a_session_file_is_imported_once(client: Client, shared: Path) -> None:
    content = b"".join(
        json.dumps(each).encode() + b"\n"
        for each in (
            {"role": "user", "content": "What is the port of the ledger service?"},
            {"role": "assistant", "content": "It is 8443."},
        )
    )
    found = client.ask("POST", "/api/import", content)
    assert found.status == 200, found.content
    assert (found.json["status"], found.json["messages"]) == ("imported", 2)
    (id_,) = found.json["sessions"]
    assert client.get(f"/api/sessions/{id_}/messages").json["total"] == 2
    assert client.ask("POST", "/api/import", content).json["status"] == "unchanged"
    assert str(client.home) not in found.content.decode()


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"hello", 400),
        (b'{"a": 1}', 400),
        (b"/etc/passwd", 400),
        (b"SQLite format 3\0" + bytes(200), 415),
        (b"\x1f\x8b\x08\x00" + bytes(50), 415),
        (b"[" * 100_000, 400),
    ],
)
def test_what_is_no_session_is_refused_with_a_sentence(
    client: Client, content: bytes, status: int
) -> None:
    answer = client.ask("POST", "/api/import", content)
    assert answer.error[0] == status
    assert "Traceback" not in answer.content.decode()
    assert "/tmp" not in answer.content.decode()


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/sessions/{missing}", (404, "not_found")),
        ("DELETE", "/api/sessions/{missing}", (404, "not_found")),
        ("POST", "/api/sessions/{missing}/undo", (404, "not_found")),
        ("POST", "/api/sessions/{missing}/compress", (404, "not_found")),
        ("GET", "/api/sessions/%00%0d%0aX-Evil:%201/window", (404, "not_found")),
        ("GET", "/api/nothing/here", (404, "not_found")),
        ("GET", "/api", (404, "not_found")),
        ("PUT", "/api/sessions", (405, "method_not_allowed")),
        ("GET", "/api/sessions?limit=0", (400, "bad_request")),
        ("GET", "/api/sessions?limit=many", (400, "bad_request")),
        ("GET", "/api/sessions?limit=1&limit=2", (400, "bad_request")),
        ("GET", "/api/sessions?trash=1", (400, "bad_request")),
        ("GET", "/api/sessions?since=whenever", (400, "bad_request")),
        ("GET", "/api/sessions?colour=red", (400, "bad_request")),
        ("GET", "/api/sessions/{missing}/messages/99999999999999999999", (404, "not_found")),
    ],
)
def test_bad_requests_get_one_shape_of_error(
    client: Client, method: str, path: str, expected: tuple[int, str]
) -> None:
    answer = client.ask(method, path.format(missing=MISSING))
    assert answer.error == expected
    assert answer.headers["content-type"] == "application/json"


def test_a_body_must_be_json_of_the_right_type_and_size(client: Client, chat: Conversation) -> None:
    path = f"/api/sessions/{chat.id}/goal"
    form = {"content-type": "text/plain"}
    assert client.ask("POST", path, b'{"goal": "x"}', form).error[0] == 415
    typed = {"content-type": "application/json; charset=utf-8"}
    assert client.ask("POST", path, b'{"goal": "x"}', typed).status == 200
    for raw in (b"{", b"[]", b'{"goal": 5}', b'{"goal": "x", "more": 1}', b"[" * 90_000, b"\xff"):
        assert client.ask("POST", path, raw, typed).error == (400, "bad_request")
    assert client.ask("POST", path, b" " * (2 << 20), typed).error == (413, "too_large")


def test_a_whole_number_may_be_written_with_a_point(client: Client, chat: Conversation) -> None:
    raw, typed = b'{"turns": 1.0}', {"content-type": "application/json"}
    path = f"/api/sessions/{chat.id}/rewind"
    assert client.ask("POST", path, raw, typed).json["messages_after"] == 9
    assert client.ask("POST", path, b'{"turns": 1.5}', typed).error == (400, "bad_request")
    assert client.ask("POST", path, b'{"turns": "1"}', typed).error == (400, "bad_request")


def test_the_method_that_a_path_does_not_have_is_named(client: Client) -> None:
    answer = client.ask("PATCH", "/api/sessions/x")
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, DELETE"


def test_a_head_is_asked_for_without_its_body(client: Client, chat: Conversation) -> None:
    for path in ("/api/sessions", f"/api/sessions/{chat.id}", "/api/events"):
        answer = client.ask("HEAD", path)
        assert (answer.status, answer.content) == (200, b"")


def test_events_tell_what_changes_while_somebody_listens(
    client: Client, chat: Conversation
) -> None:
    connection = HTTPConnection("127.0.0.1", client.port, timeout=20)
    connection.request("GET", "/api/events")
    stream = connection.getresponse()
    assert stream.getheader("content-type", "").startswith("text/event-stream")
    lines = iter(stream.readline, b"")
    assert next(lines) == b"event: ready\n"
    changes = [
        lambda: chat.add_user("One more thing"),
        lambda: client.post(f"/api/sessions/{chat.id}/goal", {"goal": "Ship it"}),
        lambda: client.post(f"/api/sessions/{chat.id}/rewind"),
        lambda: client.ask("DELETE", f"/api/sessions/{chat.id}"),
        lambda: client.post(f"/api/sessions/{chat.id}/restore"),
        lambda: client.post(f"/api/sessions/{chat.id}/fork"),
    ]
    seen: list[tuple[str, str]] = []
    for change in changes:
        threading.Thread(target=change).start()
        data = next(line for line in lines if line.startswith(b'data: {"type'))
        value = json.loads(data[6:])
        seen.append((value["type"], value["session"]["id"]))
    connection.close()
    kinds = ["messages", "changed", "window", "trashed", "restored", "created"]
    assert [kind for kind, _ in seen] == kinds
    assert {id_ for _, id_ in seen[:-1]} == {chat.id}
    assert client.get(f"/api/events?session={MISSING}").error == (404, "not_found")
