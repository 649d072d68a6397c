import hashlib
import json
import stat
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest

from holdfast.config import load
from holdfast.errors import ConfigError
from holdfast.gateway.rest import ROUTES
from holdfast.gateway.tenants import ApiError, Tenants, tenant_settings
from holdfast.gateway.tokens import PREFIX, TokenFile
from tests.cli.running import run
from tests.cli.stored import conversation, store_in
from tests.gateway.scripted import PATHS, answer, question, upstream
from tests.gateway.serving import Client, serving

SECRET_WORDS = "The vault of tenant alice opens with heliotrope"


@dataclass(frozen=True)
class Pair:
    """Two tenants of one gateway; alice has a conversation, bob has another."""

    alice: Client
    bob: Client
    nobody: Client
    hers: str
    message: int
    tokens: tuple[str, str]


@pytest.fixture
def pair(tmp_path: Path) -> Generator[Pair]:
    file = TokenFile(tmp_path / "tokens.json")
    alice, bob = file.add("alice", "alice", 1), file.add("bob", "bob", 2)
    with conversation(store_in(tmp_path, "alice"), 2, title="Alice's plans") as chat:
        message = chat.add_user(SECRET_WORDS).id
        hers = chat.id
    with conversation(store_in(tmp_path, "bob"), 1):
        pass
    with serving(tmp_path) as client:
        yield Pair(client.as_(alice), client.as_(bob), client, hers, message, (alice, bob))


def test_every_endpoint_answers_another_tenants_ids_as_if_they_were_never_there(pair: Pair) -> None:
    absent = "20991231_235959_ffffff"
    asked = 0
    for route in ROUTES:
        if "{id}" not in route.path:
            continue
        bodies: list[object] = [None]
        if "pin" in route.path and route.method == "POST":
            bodies = [{"message": pair.message}]
        if "goal" in route.path:
            bodies = [{"goal": "taken over"}]
        if "rename" in route.path:
            bodies = [{"title": "taken over"}]
        for body in bodies:
            paths = [
                route.path.format(id=id_, message=pair.message, number=1)
                for id_ in (pair.hers, absent)
            ]
            hers, none = (pair.bob.ask(route.method, path, body) for path in paths)
            assert hers.error == none.error == (404, "not_found")
            assert hers.content.replace(pair.hers.encode(), absent.encode()) == none.content
            asked += 1
    assert asked >= 15
    assert pair.alice.get(f"/api/sessions/{pair.hers}").json["title"] == "Alice's plans"


def test_lists_search_figures_and_events_of_one_tenant_have_nothing_of_another(
    pair: Pair,
) -> None:
    paths = [
        "/api/sessions?every=true&limit=200",
        "/api/sessions?trash=true",
        "/api/search?q=heliotrope",
        "/api/search?q=vault+alice&subagents=true",
        "/api/stats",
    ]
    for path in paths:
        seen = pair.bob.get(path)
        assert seen.status == 200
        assert b"heliotrope" not in seen.content.replace(b'"query": "heliotrope"', b"")
        assert pair.hers.encode() not in seen.content
    assert pair.bob.get("/api/stats").json["sessions"] == 1
    assert pair.alice.get("/api/search?q=heliotrope").json["results"]
    assert pair.bob.get(f"/api/search?q=x&session={pair.hers}").error == (404, "not_found")
    assert pair.bob.get(f"/api/events?session={pair.hers}").error == (404, "not_found")


def test_events_of_one_tenant_are_not_heard_by_another(pair: Pair) -> None:
    connection = HTTPConnection("127.0.0.1", pair.bob.port, timeout=10)
    connection.request("GET", "/api/events", headers=dict(pair.bob.headers))
    stream = connection.getresponse()
    lines = iter(stream.readline, b"")
    assert next(lines) == b"event: ready\n"
    own = pair.bob.get("/api/sessions").json["sessions"][0]["id"]
    pair.alice.post(f"/api/sessions/{pair.hers}/goal", {"goal": "Hidden"})
    goal = {"goal": "Mine"}
    threading.Thread(target=pair.bob.post, args=(f"/api/sessions/{own}/goal", goal)).start()
    first = next(line for line in lines if line.startswith(b'data: {"type'))
    connection.close()
    assert json.loads(first[6:])["session"]["id"] == own


def test_an_import_of_the_same_file_is_new_to_each_tenant(pair: Pair) -> None:
    content = b'{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Hello"}\n'
    for client in (pair.alice, pair.bob):
        assert client.ask("POST", "/api/import", content).json["status"] == "imported"


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_the_same_words_of_two_tenants_are_two_conversations(tmp_path: Path, dialect: str) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    alice, bob = file.add("alice", "alice", 1), file.add("bob", "bob", 2)
    said = answer(json.dumps({"choices": [], "content": []}).encode())
    body = question(dialect, SECRET_WORDS, stream=False)
    with upstream(said) as up, serving(tmp_path, up.url) as client:
        for token in (alice, bob):
            beside = {"x-api-key": token, "authorization": "Bearer sk-own"}
            assert client.ask("POST", PATHS[dialect], body, beside).status == 200
        refused = client.ask("POST", PATHS[dialect], body, {"x-api-key": "sk-own"})
        assert refused.status == 401
        assert set(refused.json) == ({"error"} if dialect == "openai" else {"type", "error"})
        ids: list[str] = []
        for token in (alice, bob):
            (session,) = client.as_(token).get("/api/sessions").json["sessions"]
            assert (session["entries"], session["source"]) == (1, "gateway")
            ids.append(session["id"])
        assert len({*ids}) == 2
        # What opened the gate goes no further.
        assert len(up.requests) == 2
        for received in up.requests:
            assert received.header("authorization") == "Bearer sk-own"
            assert PREFIX not in repr(received)
    for name in ("alice", "bob"):
        tree = tmp_path / "profiles" / name / "gateway.db"
        assert stat.S_IMODE(tree.stat().st_mode) == 0o600
        assert stat.S_IMODE(tree.parent.stat().st_mode) == 0o700


def test_limits_hold_for_what_is_forwarded(tmp_path: Path) -> None:
    token = TokenFile(tmp_path / "tokens.json").add("alice", "alice", 1)
    folder = tmp_path / "profiles" / "alice"
    folder.mkdir(parents=True)
    limits = "{requests_per_minute: 3, max_body_bytes: 2000}"
    (folder / "config.yaml").write_text(f"gateway: {limits}")
    with upstream(answer(b"{}")) as up, serving(tmp_path, up.url) as client:
        alice = client.as_(token)
        large = question("openai", "x" * 5_000)
        assert alice.post(PATHS["openai"], large).status == 413
        pieces = (b" " * 1_000 for _ in range(5))
        connection = HTTPConnection("127.0.0.1", client.port, timeout=10)
        connection.request(
            "POST", PATHS["openai"], pieces, dict(alice.headers), encode_chunked=True
        )
        assert connection.getresponse().status == 413
        connection.close()
        statuses = [alice.post(PATHS["openai"], question("openai")).status for _ in range(2)]
        assert statuses == [200, 429]
        assert len(up.requests) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer sk-some-providers-key"},
        {"authorization": f"Bearer {PREFIX}{'x' * 43}"},
        {"authorization": "Basic YWxpY2U6YWxpY2U="},
        {"x-holdfast-token": ""},
        {"x-holdfast-token": "alice"},
        {"x-api-key": f"{PREFIX}\u00ff"},
        {"cookie": "token=alice"},
    ],
    ids=str,
)
def test_who_shows_no_token_gets_nothing(pair: Pair, headers: dict[str, str]) -> None:
    for path in ("/api/sessions", "/api/openapi.json", "/api/none", f"/api/sessions/{pair.hers}"):
        answer = pair.nobody.ask("GET", path, headers=headers)
        assert answer.error == (401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"


def test_a_token_may_be_shown_in_any_header_for_keys_but_not_two_of_them(pair: Pair) -> None:
    alice, bob = pair.tokens
    for name in ("x-holdfast-token", "x-api-key", "x-goog-api-key", "api-key"):
        assert pair.nobody.ask("GET", "/api/stats", headers={name: alice}).status == 200
    both = {"authorization": f"Bearer {alice}", "x-api-key": bob}
    assert pair.nobody.ask("GET", "/api/stats", headers=both).error == (401, "unauthorized")
    connection = HTTPConnection("127.0.0.1", pair.nobody.port, timeout=10)
    connection.putrequest("GET", "/api/stats")
    for token in (bob, alice):
        connection.putheader("x-api-key", token)
    connection.endheaders()
    assert connection.getresponse().status == 401
    connection.close()
    # A key for a provider may stand beside it.
    beside = {"authorization": "Bearer sk-other", "x-holdfast-token": alice}
    assert pair.nobody.ask("GET", "/api/stats", headers=beside).status == 200


def test_headers_that_held_a_token_are_for_no_upstream(pair: Pair) -> None:
    import asyncio

    alice, _ = pair.tokens
    tenants = Tenants(pair.alice.tenants.settings, pair.alice.tenants.environ)
    headers = [("authorization", f"Bearer {alice}"), ("x-api-key", "sk-theirs")]

    async def spent() -> frozenset[str]:
        admission = await tenants.admit(headers, "203.0.113.9")
        assert admission.tenant.name == "alice"
        await tenants.close()
        return admission.spent

    assert asyncio.run(spent()) == {"authorization"}


def test_a_revoked_token_opens_nothing_from_that_moment_on(pair: Pair) -> None:
    file = pair.alice.tenants.tokens
    assert pair.alice.get("/api/stats").status == 200
    assert file.revoke("alice", 5)
    assert pair.alice.get("/api/stats").error == (401, "unauthorized")
    assert pair.bob.get("/api/stats").status == 200
    # The last one that is revoked does not open the door for everybody.
    assert file.revoke("bob", 6)
    assert pair.nobody.get("/api/stats").error == (401, "unauthorized")
    file.path.unlink()
    assert pair.nobody.get("/api/stats").error == (401, "unauthorized")


def test_a_token_file_that_cannot_be_trusted_lets_nobody_in(pair: Pair) -> None:
    path = pair.alice.tenants.tokens.path
    path.chmod(0o644)
    path.write_text(path.read_text() + " ")
    answer = pair.alice.get("/api/stats")
    assert answer.error == (503, "unavailable")
    assert str(path) not in answer.content.decode()
    path.chmod(0o600)
    path.write_text("[]")
    assert pair.alice.get("/api/stats").error == (503, "unavailable")


def test_without_tokens_only_the_loopback_is_served_as_one_tenant(tmp_path: Path) -> None:
    import asyncio

    known = {"HOLDFAST_HOME": str(tmp_path)}
    tenants = Tenants(load(known).settings, known)

    async def names() -> list[str]:
        found = [(await tenants.admit([], peer)).tenant.name for peer in ("127.0.0.1", "::1")]
        for peer in ("192.0.2.7", None, "", "localhost"):
            with pytest.raises(ApiError, match="token add"):
                await tenants.admit([], peer)
        await tenants.close()
        return found

    assert asyncio.run(names()) == ["default", "default"]


def test_tokens_are_stored_as_hashes_in_a_file_of_the_owners(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "home" / "tokens.json")
    secret = file.add("laptop", "default", 7)
    assert len(secret) >= len(PREFIX) + 43
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    text = file.path.read_text()
    assert secret not in text
    assert hashlib.sha256(secret.encode()).hexdigest() in text
    found = file.match(secret)
    assert found is not None
    assert (found.name, found.tenant, found.revoked) == ("laptop", "default", None)
    assert file.match(secret[:-1]) is None
    with pytest.raises(ConfigError, match="already"):
        file.add("laptop", "default", 8)
    for name in ("../up", "", "a/b", ".hidden"):
        with pytest.raises(ConfigError, match="cannot name"):
            file.add("x", name, 8)


def test_tokens_are_added_listed_and_revoked_by_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    added = run("token", "add", "laptop", "--tenant", "default")
    secret = added.text.strip()
    assert secret.startswith(PREFIX)
    assert "default" in added.errors
    assert json.loads(run("token", "add", "bob", "--json").text)["tenant"] == "bob"
    assert "already" in run("token", "add", "bob").errors
    listed = run("token", "list")
    assert "laptop" in listed.text
    assert secret not in listed.text
    assert "revoked" in run("token", "revoke", "laptop").errors
    assert run("token", "revoke", "laptop").code == 3
    found = json.loads(run("token", "list", "--json").text)
    states = {each["name"]: each["revoked"] for each in found}
    assert states["laptop"]
    assert states["bob"] is None


def test_each_tenant_has_settings_of_its_own(tmp_path: Path) -> None:
    known = {"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_COMPRESSION_THRESHOLD": "0.6"}
    base = load(known).settings
    folder = tmp_path / "profiles" / "alice"
    folder.mkdir(parents=True)
    own = folder / "config.yaml"
    own.write_text("compression: {threshold: 0.4}\ngateway: {requests_per_minute: 5}\n")
    alice = tenant_settings(base, "alice", known)
    assert (alice.compression.threshold, alice.gateway.requests_per_minute) == (0.4, 5)
    assert alice.store.profile == "alice"
    assert tenant_settings(base, "bob", known).compression.threshold == 0.6
    for wrong in ("gateway: {port: 9}", "store: {profile: bob}"):
        own.write_text(wrong)
        with pytest.raises(ConfigError, match="gateway as a whole"):
            tenant_settings(base, "alice", known)


def test_tenants_never_share_a_store(tmp_path: Path) -> None:
    import asyncio

    known = {"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_STORE_URL": str(tmp_path / "all.db")}
    base = load(known).settings
    with pytest.raises(ConfigError, match="share"):
        tenant_settings(base, "alice", known)
    for name in ("alice", "bob"):
        (tmp_path / "profiles" / name).mkdir(parents=True)
        file = tmp_path / "profiles" / name / "config.yaml"
        file.write_text(f"store: {{url: {tmp_path / 'two.db'}}}")
    tenants = Tenants(base, known)

    async def both() -> None:
        await tenants.opened("alice")
        with pytest.raises(ApiError) as refused:
            await tenants.opened("bob")
        assert refused.value.status == 503
        assert str(tmp_path) not in str(refused.value)
        await tenants.close()

    asyncio.run(both())


def test_a_tenant_is_held_to_its_limits_and_others_are_not(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    alice, bob = file.add("alice", "alice", 1), file.add("bob", "bob", 2)
    folder = tmp_path / "profiles" / "alice"
    folder.mkdir(parents=True)
    limits = "{requests_per_minute: 4, concurrent_requests: 1, max_body_bytes: 2000}"
    (folder / "config.yaml").write_text(f"gateway: {limits}")
    with serving(tmp_path) as client:
        connection = HTTPConnection("127.0.0.1", client.port, timeout=10)
        connection.request("GET", "/api/events", headers={"x-holdfast-token": alice})
        stream = connection.getresponse()
        stream.readline()
        busy = client.as_(alice).get("/api/stats")
        assert busy.error == (429, "too_many_streams")
        assert int(busy.headers["retry-after"]) >= 1
        stream.close()
        connection.close()
        large = client.as_(alice)
        answers = [large.ask("POST", "/api/import", b"x" * 5_000) for _ in range(20)]
        codes = [each.error for each in answers if each.error[1] != "too_many_streams"]
        assert codes[:3] == [(413, "too_large")] * 3
        assert codes[-1] == (429, "rate_limited")
        assert client.as_(bob).ask("POST", "/api/import", b"x" * 5_000).error[0] == 400


def test_a_body_in_chunks_is_measured_as_it_comes(pair: Pair) -> None:
    own = pair.alice.home / "profiles" / "alice" / "config.yaml"
    own.write_text("gateway: {max_body_bytes: 3000}")
    connection = HTTPConnection("127.0.0.1", pair.alice.port, timeout=10)
    pieces = (b"y" * 1_000 for _ in range(8))
    connection.request("POST", "/api/import", pieces, dict(pair.alice.headers), encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_the_audit_log_says_who_did_what_and_nothing_that_was_said(pair: Pair) -> None:
    alice, bob = pair.tokens
    pair.alice.get(f"/api/sessions/{pair.hers}/window")
    pair.alice.get("/api/search?q=heliotrope")
    pair.alice.post(f"/api/sessions/{pair.hers}/goal", {"goal": "the hidden goal"})
    pair.bob.get(f"/api/sessions/{pair.hers}")
    pair.nobody.get("/api/sessions")
    pair.nobody.ask("GET", f"/api/{alice}/sk-ant-api03-{'A1b2' * 20}")
    file = pair.alice.home / "gateway-audit.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # A line is written when the answer is gone.
    while file.read_text().count("\n") < 6:
        time.sleep(0.01)
    text = file.read_text()
    for words in ("heliotrope", "vault", "hidden goal", "Alice's plans", alice, bob, "A1b2A1b2"):
        assert words not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(each["tenant"], each["token"], each["status"]) for each in lines] == [
        ("alice", "alice", 200),
        ("alice", "alice", 200),
        ("alice", "alice", 200),
        ("bob", "bob", 404),
        (None, None, 401),
        (None, None, 401),
    ]
    assert lines[0]["session"] == pair.hers
    assert lines[0]["bytes_out"] > 1_000
    assert lines[2]["bytes_in"] == len('{"goal": "the hidden goal"}')
    assert lines[1]["path"] == "/api/search"
    assert lines[0]["peer"] == "127.0.0.1"


def test_tenants_that_ask_for_nothing_are_closed_and_opened_again(tmp_path: Path) -> None:
    import asyncio

    known = {"HOLDFAST_HOME": str(tmp_path)}
    tenants = Tenants(load(known).settings, known, most=2)

    async def many() -> None:
        held = await tenants.opened("t0")
        held.limits.begin()
        for index in range(1, 6):
            await tenants.opened(f"t{index}")
        assert len(tenants) == 2
        assert await tenants.opened("t0") is held
        again = await asyncio.gather(*(tenants.opened("t3") for _ in range(5)))
        assert len({id(each) for each in again}) == 1
        await tenants.close()

    asyncio.run(many())
