"""`holdfast doctor`: what is in place, what is not, and never a credential."""

import json
import random
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.ports import Lease
from holdfast.wiring import open_store
from tests.cli.running import run
from tests.cli.stored import conversation, store_in

MODEL = {"HOLDFAST_AUXILIARY_COMPRESSION_MODEL": "claude-next"}


def states(env: dict[str, str]) -> dict[str, str]:
    ended = run("doctor", "--offline", "--json", env=env)
    found = json.loads(ended.output)
    assert (ended.code == 0) == found["healthy"]
    return {each["name"]: each["state"] for each in found["checks"]}


def test_a_fresh_installation_is_healthy() -> None:
    found = states({})
    assert set(found.values()) == {"ok"}
    assert list(found)[:6] == [
        "python",
        "home",
        "configuration",
        "window",
        "model",
        "summary model",
    ]
    assert {"engine", "memory", "tokenizer", "model file smollm2", "extra chat"} <= set(found)


def test_a_broken_configuration_fails_and_the_other_checks_go_on(home: Path) -> None:
    (home / "config.yaml").write_text("compression: {thresholdx: 1}", "utf-8")
    ended = run("doctor")
    assert ended.code == 1
    assert "did you mean compression.threshold?" in ended.text
    assert "extra openai" in ended.text


def test_a_summary_model_needs_a_credential() -> None:
    assert states(MODEL)["credential"] == "fail"
    assert states({**MODEL, "ANTHROPIC_API_KEY": "k"})["credential"] == "ok"
    assert states({**MODEL, "OPENAI_API_KEY": "k"})["credential"] == "fail"


def test_a_server_of_one_s_own_gets_no_credential() -> None:
    address = {"HOLDFAST_AUXILIARY_COMPRESSION_BASE_URL": "http://me:secret@127.0.0.1:1/v1"}
    ended = run("doctor", env={**MODEL, **address, "ANTHROPIC_API_KEY": "k"})
    assert "none is sent to 127.0.0.1:1; HOLDFAST_API_KEY would be" in ended.text
    assert "summary address: 127.0.0.1:1 does not answer: connection refused" in ended.text
    assert ended.code == 1
    assert "secret" not in ended.text


def test_a_credential_is_never_shown() -> None:
    ended = run("doctor", "--offline", env={**MODEL, "ANTHROPIC_API_KEY": "sk-very-secret"})
    assert "ANTHROPIC_API_KEY is set" in ended.text
    assert "sk-very-secret" not in ended.text


def test_a_model_without_a_window_is_a_warning_with_advice() -> None:
    env = {"HOLDFAST_MODEL_NAME": "tiny", "OPENAI_API_KEY": "k"}
    ended = run("doctor", "--offline", env=env)
    assert ended.code == 0
    assert "set model.context_length to the window of tiny" in ended.text


def test_the_window_of_a_listed_model_is_known_and_one_set_too_large_is_a_warning() -> None:
    env = {"HOLDFAST_MODEL_NAME": "gpt-4o", "OPENAI_API_KEY": "k"}
    ended = run("doctor", "--offline", env=env)
    assert "as listed for gpt-4o: 128,000 tokens" in ended.text
    large = run("doctor", "--offline", env={**env, "HOLDFAST_MODEL_CONTEXT_LENGTH": "500000"})
    assert "set model.context_length to 128000 or less" in large.text
    fitting = {**env, "HOLDFAST_MODEL_CONTEXT_LENGTH": "64000"}
    assert states(fitting)["window"] == "ok"


def test_the_model_on_this_machine_has_a_small_window_and_needs_no_key() -> None:
    env = {"HOLDFAST_MODEL_NAME": "local", "HOLDFAST_AUXILIARY_COMPRESSION_MODEL": "local"}
    found = json.loads(run("doctor", "--json", env=env).output)
    words = {each["name"]: each["words"] for each in found["checks"]}
    assert found["healthy"]
    assert "4,096 tokens" in words["window"]
    assert words["model"] == "the one on this machine, which needs no key"
    assert "credential" not in words


def test_an_address_that_answers_is_connected_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        address = f"http://127.0.0.1:{port}/v1"
        env = {"HOLDFAST_MODEL_NAME": "tiny", "HOLDFAST_MODEL_BASE_URL": address}
        ended = run("doctor", env=env)
        assert ended.code == 0
        assert f"model address: 127.0.0.1:{port} answers" in ended.text
        assert "model address" not in run("doctor", "--offline", env=env).text


@pytest.mark.parametrize(
    "address", ["http://h:99999/v1", "http://h:abc/v1", "http://[::1", "http://", "ftp://h/v1"]
)
def test_an_address_that_is_none_is_a_sentence_and_the_other_checks_go_on(address: str) -> None:
    env = {"HOLDFAST_MODEL_NAME": "tiny", "HOLDFAST_MODEL_BASE_URL": address}
    ended = run("doctor", env=env)
    assert ended.code == 1
    assert "allowed: an address that begins with http:// or https://" in ended.text
    assert "extra openai" in ended.text


def test_a_name_that_cannot_be_looked_up_is_a_sentence() -> None:
    env = {"HOLDFAST_MODEL_NAME": "tiny", "HOLDFAST_MODEL_BASE_URL": "http://a..b/v1"}
    assert "model address: a..b:80 does not answer" in run("doctor", env=env).text


def test_the_proxy_is_asked_where_there_is_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        port = proxy.getsockname()[1]
        env = {
            "HOLDFAST_MODEL_NAME": "gpt-4o",
            "OPENAI_API_KEY": "k",
            "https_proxy": f"http://127.0.0.1:{port}",
        }
        ended = run("doctor", env=env)
        assert f"127.0.0.1:{port} (the proxy before api.openai.com:443) answers" in ended.text


def test_a_memory_service_is_connected_to() -> None:
    env = {
        "HOLDFAST_MEMORY_PROVIDER": "hindsight",
        "HOLDFAST_MEMORY_BASE_URL": "http://127.0.0.1:1",
    }
    assert "memory address: 127.0.0.1:1 does not answer" in run("doctor", env=env).text


def test_a_summary_model_listed_with_a_small_window_is_a_warning() -> None:
    env = {
        "HOLDFAST_MODEL_NAME": "gpt-4o",
        "HOLDFAST_AUXILIARY_COMPRESSION_MODEL": "gpt-3.5-turbo",
        "OPENAI_API_KEY": "k",
    }
    assert states(env)["summary model"] == "warn"


def test_an_engine_that_does_not_exist_is_a_warning() -> None:
    assert states({"HOLDFAST_CONTEXT_ENGINE": "turbo"})["engine"] == "warn"
    assert states({"HOLDFAST_CONTEXT_ENGINE": "truncate"})["engine"] == "ok"


def test_a_plug_in_engine_is_listed(home: Path) -> None:
    plugin = home / "plugins" / "context_engine" / "mine"
    plugin.mkdir(parents=True)
    (plugin / "__init__.py").write_text("", "utf-8")
    assert "engine: compressor; plug-ins: mine" in run("doctor", "--offline").text


def test_a_plug_in_engine_that_cannot_be_loaded_is_a_warning_that_says_why(home: Path) -> None:
    plugin = home / "plugins" / "context_engine" / "boom"
    plugin.mkdir(parents=True)
    (plugin / "__init__.py").write_text("raise RuntimeError('no such luck')", "utf-8")
    env = {"HOLDFAST_CONTEXT_ENGINE": "boom"}
    assert states(env)["engine"] == "warn"
    said = "engine: boom cannot be used: RuntimeError: no such luck; compressor is used instead"
    assert said in run("doctor", "--offline", env=env).text


def test_a_memory_provider_without_what_it_needs_fails() -> None:
    env = {"HOLDFAST_MEMORY_PROVIDER": "mem0"}
    assert states(env)["memory provider"] == "fail"
    assert states({**env, "MEM0_API_KEY": "k"})["memory provider"] == "ok"
    assert "memory provider" not in states({})


def test_memory_files_that_cannot_be_read_fail(home: Path) -> None:
    folder = home / "profiles" / "default" / "memories"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_bytes(b"\xff\xfe broken")
    assert states({})["memory"] == "fail"


def test_a_home_that_is_a_file_fails(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", "utf-8")
    assert states({"HOLDFAST_HOME": str(file)})["home"] == "fail"


def test_a_home_that_cannot_be_looked_into_fails_and_the_other_checks_go_on() -> None:
    ended = run("doctor", env={"HOLDFAST_HOME": "/" + "x" * 5_000})
    assert ended.code == 1
    assert "cannot be looked into: file name too long" in ended.text
    assert "extra openai" in ended.text


def test_a_summary_model_with_a_window_under_the_threshold_is_a_warning() -> None:
    variable = "HOLDFAST_AUXILIARY_COMPRESSION_CONTEXT_LENGTH"
    model = {**MODEL, "ANTHROPIC_API_KEY": "k"}
    assert states({**model, variable: "8000"})["summary model"] == "warn"
    assert states({**model, variable: "150000"})["summary model"] == "ok"
    ended = run("doctor", "--offline", env={**model, variable: "8000"})
    assert "is under the threshold of 100,000" in ended.text


def words_of(name: str) -> str:
    found = json.loads(run("doctor", "--json").output)
    return next(each["words"] for each in found["checks"] if each["name"] == name)


def test_a_store_that_is_not_made_yet_is_not_made_by_looking(home: Path) -> None:
    assert words_of("store") == f"{store_in(home)} (not made yet)"
    nothing = run("doctor", "--repair")
    assert (nothing.code, "nothing to repair" in nothing.errors) == (3, True)
    assert list(home.iterdir()) == []


def test_a_store_is_looked_at(home: Path) -> None:
    with conversation(store_in(home)) as chat:
        name = chat.id
        chat.branch()
    run("sessions", "delete", name, "--yes")
    assert words_of("store").startswith(f"{store_in(home)}: 1 session, 9 messages, ")
    assert words_of("store pages") == "a quick check found no damage"
    assert words_of("store space").endswith(" free")
    assert words_of("trash") == "1 session in the trash"
    ended = run("doctor", "--repair", "--json")
    found = json.loads(ended.output)
    assert (ended.code, found["healthy"], found["problems"], found["done"]) == (0, True, [], [])
    assert "nothing is wrong; 2 sessions, 9 messages" in run("doctor", "--repair").text


def test_a_lease_that_ran_out_is_a_warning_and_one_that_holds_is_not(home: Path) -> None:
    with conversation(store_in(home)) as chat:
        chat.store.acquire(Lease(chat.id, "1:main:agent:abc", 5_000), 0)
        assert "left session" in words_of("lease")
        assert states({})["lease"] == "warn"
        far = chat.live.deps.clock.moment() + 60_000
        chat.store.acquire(Lease(chat.id, "2:main:agent:def", far), far - 1)
        assert words_of("lease") == f"session {chat.id} is being compacted by 2:main:agent:def"
        assert states({})["lease"] == "ok"
        late = far + 86_400_000
        chat.store.acquire(Lease(chat.id, "3:main:agent:fed", late), far)
        assert words_of("lease") == (
            f"the lease of 3:main:agent:fed on session {chat.id} is void: it would run out far in "
            "the future, so it was taken by a clock that was wrong"
        )
        assert states({})["lease"] == "warn"


def test_another_profile_can_be_looked_at(home: Path) -> None:
    conversation(store_in(home, "work")).close()
    assert "(not made yet)" in run("doctor").text
    assert "1 session, 9 messages" in run("doctor", "--profile", "work").text
    assert "1 session, 9 messages" in run("doctor", "--repair", "--profile", "work").text


def test_a_file_that_is_no_store_fails_with_a_sentence(home: Path) -> None:
    place = store_in(home)
    place.parent.mkdir(parents=True)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA user_version = 3")
        connection.execute("CREATE TABLE theirs (value)")
    assert words_of("store").endswith("is the database of another program; name another file")
    assert run("doctor", "--repair").code == 1
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA application_id = 0x484F4C44")
        connection.execute("PRAGMA user_version = 99")
    assert words_of("store").endswith("install a newer holdfast")


def test_a_file_that_cannot_be_opened_is_repaired_and_kept(home: Path) -> None:
    place = store_in(home)
    with conversation(place, 30) as chat:
        name = chat.id
    content = bytearray(place.read_bytes())
    content[:60] = b"x" * 60
    place.write_bytes(content)
    assert states({})["store"] == "fail"
    ended = run("doctor", "--repair")
    assert ended.code == 0
    (kept,) = place.parent.glob("*.damaged-*")
    assert f"kept the damaged file as {kept}" in ended.text
    assert kept.read_bytes() == bytes(content)
    assert ended.text.splitlines()[-1].startswith(f"ok    {place}: all is readable; 1 session, 121")
    assert states({})["store"] == "ok"
    store = open_store(place, {})
    assert len(store.since(name, 0)) == 121
    store.close()


def spoil(place: Path, table: str) -> None:
    """Write over the page where a table begins."""
    with closing(sqlite3.connect(place)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)
        ).fetchone()
    with place.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)


def test_a_lost_table_of_sessions_is_repaired_and_not_asked_to_be(home: Path) -> None:
    place = store_in(home)
    conversation(place, 30).close()
    spoil(place, "sessions")
    ended = run("doctor", "--repair")
    assert (ended.code, ended.errors) == (0, "")
    assert ended.text.splitlines()[-1].startswith(f"ok    {place}: all is readable; 1 session, 121")
    assert "Recovered" in run("sessions", "list").text


def test_messages_that_are_lost_are_counted_and_the_repair_has_failed(home: Path) -> None:
    place = store_in(home)
    conversation(place, 1).close()
    spoil(place, "messages")
    ended = run("doctor", "--repair")
    assert ended.code == 1
    assert "5 of 5 messages could not be read" in ended.text
    last, advice = ended.text.splitlines()[-2:]
    assert "import brings back what agents still have" in advice
    assert last.startswith(f"lost  {place}: 5 messages could not be read; 1 session, 0 messages")
    (listed,) = json.loads(run("sessions", "list", "--json").output)
    assert listed["entries"] == 0
    again = run("doctor", "--repair", "--json")
    assert (again.code, json.loads(again.output)["missing"]) == (0, 0)


def test_an_address_of_another_kind_of_store_fails(home: Path) -> None:
    env = {"HOLDFAST_STORE_URL": "postgres://example"}
    assert states(env).get("store", "fail") == "fail"
    assert run("doctor", "--repair", env=env).code == 1


def cut(content: bytes, how: str) -> bytes:
    """Return what is left of a file."""
    left = {
        "a tenth": content[: len(content) // 10],
        "50 bytes": content[:50],
        "100 bytes": content[:100],
        "a page": content[:4096],
        "zeros": bytes(8192),
        "no database": b"these are notes, and no database\n" * 99,
    }
    return left[how]


@pytest.mark.parametrize(
    "how", ["a tenth", "50 bytes", "100 bytes", "a page", "zeros", "no database"]
)
def test_a_store_of_which_little_is_left_is_never_ok_and_is_repaired(home: Path, how: str) -> None:
    place = store_in(home)
    with conversation(place, 200) as chat:
        id_ = chat.id
    left = cut(place.read_bytes(), how)
    place.write_bytes(left)
    found = json.loads(run("doctor", "--offline", "--json").output)
    assert not found["healthy"]
    (store,) = [each for each in found["checks"] if each["name"] == "store"]
    assert store["state"] == "fail"
    ended = run("doctor", "--repair")
    assert ended.code == 1
    assert "run `holdfast doctor" not in ended.text
    assert "lost  " in ended.text
    (kept,) = place.parent.glob("holdfast.db.damaged-*")
    assert kept.read_bytes() == left
    again = run("doctor", "--repair")
    assert (again.code, again.text[:2]) == (0, "ok")
    with conversation(place, 1) as chat:
        assert chat.id != id_
    assert run("doctor", "--offline").code == 0


def test_a_store_cut_in_half_tells_how_much_is_gone_and_where_it_may_be(home: Path) -> None:
    place = store_in(home)
    for _ in range(90):
        conversation(place, 8).close()
    before = json.loads(run("doctor", "--repair", "--json").output)
    content = place.read_bytes()
    place.write_bytes(content[: len(content) // 2])
    ended = run("doctor", "--repair")
    place.write_bytes(content[: len(content) // 2])
    found = json.loads(run("doctor", "--repair", "--json").output)
    gone = before["messages"] - found["messages"]
    assert 0 < found["missing"] <= gone == found["missing_at_most"]
    assert 0 < found["sessions_missing"] <= before["sessions"] - found["sessions"]
    lost, advice = ended.text.splitlines()[-2:]
    assert f"at least {found['missing']:,} messages could not be read; by its numbers" in lost
    assert f"{gone:,} messages and at least {found['sessions_missing']} sessions are gone" in lost
    assert "a backup can take the place" in advice


def test_a_tenth_of_a_store_gives_back_what_it_has(home: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    said = [
        {"role": "user", "content": f"harbor{number} " + chance.randbytes(600).hex()}
        for number in range(2_000)
    ]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(said), "utf-8")
    assert run("import", str(file)).code == 0
    place = store_in(home)
    place.write_bytes(cut(place.read_bytes(), "a tenth"))
    ended = run("doctor", "--repair", "--json")
    assert 0 < json.loads(ended.output)["messages"] < 2_000
    assert "harbor1" in run("search", "harbor1").text


def test_an_empty_file_is_no_store_that_is_in_order(home: Path) -> None:
    place = store_in(home)
    place.parent.mkdir(parents=True)
    place.touch()
    assert f"warn store: {place} is empty" in run("doctor", "--offline").text


def test_a_model_on_this_machine_without_its_file_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.providers.local_model.find_spec", lambda _: None)
    usual = run("doctor", "--offline")
    assert "warn model: the one on this machine, smollm2, whose file is not here" in usual.text
    assert "holdfast models pull smollm2" in usual.text
    assert usual.code == 0
    chosen = run("doctor", "--offline", env={"HOLDFAST_MODEL_NAME": "local"})
    assert "fail model: the one on this machine, smollm2, whose file is not here" in chosen.text
    assert chosen.code == 1
