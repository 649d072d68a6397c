"""`holdfast chat` through a pipe: the whole loop, with a provider whose answers are known."""

import json
import shlex
import time
from pathlib import Path

import pytest

from holdfast.session import EndReason, Fork, Session
from holdfast.stores.sqlite import SqliteStore
from tests.cli.chat.talking import asks_for, at, place, said_in, says, sent, shown, stored, talk
from tests.cli.running import run
from tests.providers.provider import Reply, error, provider
from tests.providers.streams import events, message_events, text_block


def test_lines_are_answered_one_by_one_and_stored(home: Path) -> None:
    with provider(says("Hello", " Marta."), says("On 8443.")) as server:
        ended = talk(server, "I am Marta", "", "Which port?")
    assert (ended.code, ended.errors) == (0, "")
    assert shown(ended) == ["> I am Marta", "Hello Marta.", "> Which port?", "On 8443."]
    (session,) = stored(home)
    assert (session.source, session.model) == ("cli", "m")
    assert said_in(home, session.id) == [
        ("user", "I am Marta"),
        ("assistant", "Hello Marta."),
        ("user", "Which port?"),
        ("assistant", "On 8443."),
    ]
    assert [each["role"] for each in sent(server)] == ["system", "user", "assistant", "user"]


def test_a_conversation_is_resumed_with_everything_that_was_said(home: Path) -> None:
    with provider(says("Noted."), says("8443.")) as server:
        talk(server, "The port is 8443")
        ended = talk(server, "Which port?", flags=("--resume", "last"))
    assert shown(ended) == [
        "Going on with: The port is 8443 (3 messages in the window).",
        "> The port is 8443",
        "Noted.",
        "> Which port?",
        "8443.",
    ]
    assert len(stored(home)) == 1
    assert len(sent(server)) == 4


def test_the_command_that_a_chat_ends_with_goes_on_at_the_same_server(home: Path) -> None:
    with provider(says("Noted."), says("8443."), says("Yes.")) as server:
        ended = talk(server, "The port is 8443")
        line = next(each for each in ended.text.splitlines() if "chat --resume" in each)
        command = shlex.split(line.partition("chat --resume")[2])
        assert command[1:] == ["--base-url", f"{server.url}/v1"]
        assert run("chat", "--resume", *command, stdin=b"Which port?\n").code == 0
        # Without the flag too, and after the user began anew.
        again = run("chat", "--resume", "last", stdin=b"Sure?\n/new\nAnd now?\n")
        assert (again.code, len(server.requests)) == (0, 4)
        assert server.requests[-1].fields["model"] == "m"
    newest = stored(home)[0]
    assert newest.server["base_url"] == f"{server.url}/v1"


def test_another_model_is_asked_at_the_server_where_the_conversation_was_held(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with provider(says("Noted."), says("8443.")) as server, provider(says("Here.")) as other:
        talk(server, "The port is 8443")
        named = run("chat", "--resume", "last", "--model", "fake-1", stdin=b"Which port?\n")
        assert (named.code, len(server.requests)) == (0, 2)
        assert server.requests[-1].fields["model"] == "fake-1"
        # One that is configured for new conversations does not get it either; a flag moves it.
        configured = f"model:\n  name: small\n  base_url: {other.url}/v1\n"
        (home / "config.yaml").write_text(configured, "utf-8")
        run("chat", "--resume", "last", stdin=b"Sure?\n")
        assert (len(server.requests), len(other.requests)) == (3, 0)
        talk(other, "And here?", flags=("--resume", "last"))
        assert (len(server.requests), len(other.requests)) == (3, 1)
    (session,) = stored(home)
    assert session.server["base_url"] == f"{other.url}/v1"


def test_a_configured_server_that_moved_takes_its_conversations_along_without_credentials(
    home: Path,
) -> None:
    for _ in range(2):
        with provider(says("Noted.")) as server:
            address = f"{server.url}/v1".replace("://", "://me:secret@")
            (home / "config.yaml").write_text(
                f"model:\n  name: small\n  base_url: {address}\n", "utf-8"
            )
            flags = ("--resume", "last") if stored(home) else ()
            assert run("chat", *flags, stdin=b"Hi\n").code == 0
            assert len(server.requests) == 1
    (session,) = stored(home)
    assert session.server == {
        "base_url": f"{server.url}/v1",
        "provider": "auto",
        "named": False,
    }


def test_a_default_for_new_conversations_is_not_taken_for_a_stored_one(home: Path) -> None:
    long = " ".join(f"fact{number}" for number in range(3_000))
    with provider(says("Noted.")) as server:
        talk(server, long, flags=("--context-length", "100000"))
        served = f"model:\n  name: small\n  base_url: {server.url}/v1\n  context_length: 4096\n"
        (home / "config.yaml").write_text(served, "utf-8")
        again = run("chat", "--resume", "last", stdin=b"Hi\n")
        assert again.code == 0
        assert again.text.startswith("holdfast chat with m at")
        assert server.requests[-1].fields["model"] == "m"
        assert "fact2999" in str(sent(server))
        small = ("chat", "--resume", "last", "--model", "small", "--context-length", "4096")
        refused = run(*small, stdin=b"Hi\n")
        assert refused.code == 1
        assert "is too large for the 4,096 that small takes; --fold folds it" in refused.errors
        assert len(server.requests) == 2
        assert run(*small, "--fold", stdin=b"Hi\n").code == 0
        assert len(str(sent(server))) < len(str(sent(server, 1)))
    (session,) = stored(home)
    assert (session.model, session.context_length) == ("small", 4_096)


def test_an_imported_conversation_without_a_key_for_its_model_is_a_sentence(home: Path) -> None:
    store = SqliteStore(place(home))
    store.create(Session(id="s", source="import:claude-code", started=1, model="claude-opus-5"))
    store.close()
    ended = run("chat", "--resume", "s", stdin=b"Hi\n")
    assert ended.code == 1
    assert "was held with claude-opus-5, which cannot be had here: there is no" in ended.errors
    assert "set ANTHROPIC_API_KEY, or go on with another model with --model NAME" in ended.errors


def test_nothing_said_leaves_nothing_behind(home: Path) -> None:
    with provider(says("never")) as server:
        ended = talk(server)
    assert (ended.code, ended.errors) == (3, "nothing was said: standard input was empty\n")
    assert stored(home) == []
    assert server.requests == []


def test_a_tool_runs_and_what_nobody_allows_does_not(here: Path, home: Path) -> None:
    (here / "notes.txt").write_text("The port is 8443.\n", "utf-8")
    asked = (asks_for("read_file", path="notes.txt"), asks_for("run_command", command="ls"))
    with provider(*asked, says("8443.")) as server:
        ended = talk(server, "Which port?")
    assert ended.code == 0
    lines = shown(ended)
    assert lines[1] == '-> read_file {"path": "notes.txt"}'
    assert "The port is 8443." in lines[2]
    assert lines[3:] == [
        '-> run_command {"command": "ls"}',
        "   the user did not allow this; ask or find another way",
        "8443.",
    ]
    assert "The port is 8443." in str(sent(server)[-3])


def test_a_sub_agent_works_in_a_session_of_its_own(home: Path) -> None:
    replies = (asks_for("delegate", task="Count", title="count"), says("Sixty."), says("It is 60."))
    with provider(*replies) as server:
        ended = talk(server, "How many?")
    assert shown(ended)[2:] == ["   Sixty.", "It is 60."]
    child, parent = sorted(stored(home), key=lambda each: each.parent is None)
    assert (child.parent, child.fork, child.source, child.end_reason) == (
        parent.id,
        Fork.DELEGATION,
        "subagent",
        EndReason.SUBAGENT,
    )
    names = [tool["function"]["name"] for tool in server.requests[1].fields["tools"]]
    assert "delegate" not in names


def test_past_conversations_are_found(home: Path) -> None:
    with provider(says("Noted.")) as server:
        talk(server, "The staging key lies under the doormat")
    with provider(asks_for("session_search", query="doormat"), says("Doormat.")) as server:
        ended = talk(server, "Where is it?")
    assert ended.code == 0
    assert "under the doormat" in str(sent(server)[-1])


def test_what_the_model_remembers_is_in_the_next_conversation(home: Path) -> None:
    kept = asks_for("memory", action="add", target="user", content="Likes tea.")
    with provider(kept, says("Kept.")) as server:
        talk(server, "I like tea")
    file = home / "profiles" / "default" / "memories" / "USER.md"
    assert file.read_text("utf-8").strip() == "Likes tea."
    with provider(says("Tea.")) as server:
        talk(server, "What do I like?")
        assert "Likes tea." in sent(server)[0]["content"]
        talk(server, "And now?", flags=("--no-memory", "--no-tools"))
        assert "Likes tea." not in sent(server)[0]["content"]
        assert "tools" not in server.requests[-1].fields


def test_memory_that_hangs_delays_a_turn_by_its_deadline_and_is_told_of(home: Path) -> None:
    with provider(Reply(body="{}", delay=1.5)) as slow, provider(says("Hello.")) as server:
        (home / "config.yaml").write_text(
            f"memory:\n  provider: hindsight\n  base_url: {slow.url}\n  deadline: 0.3\n", "utf-8"
        )
        began = time.monotonic()
        ended = talk(server, "Hi", "/status")
        took = time.monotonic() - began
    assert ended.code == 0
    assert "Hello." in ended.text
    assert "memory has trouble" in ended.text
    (line,) = [each for each in ended.text.splitlines() if each.startswith("memory  ")]
    assert "hindsight" in line
    assert "did not answer within its deadline" in line
    assert took < 9


def test_a_claude_gets_markers_and_its_cache_is_counted(home: Path) -> None:
    answer = events(*message_events(text_block("Hello.")))
    with provider(answer) as server:
        ended = run(
            *("chat", "--model", "claude-opus-4-6", "--base-url", server.url),
            stdin=b"Hi\nAgain\n",
        )
    assert ended.code == 0
    fields = server.requests[-1].fields
    assert json.dumps(fields).count("cache_control") == 4
    assert "cache 31%" in ended.text
    assert "Prompt caching is on: four markers" in ended.text


def test_what_is_too_large_is_compacted_and_asked_again(home: Path) -> None:
    refusal = error(400, "This model's maximum context length is 3000 tokens.")
    with provider(*[says("Noted.")] * 4, refusal, says("Fine.")) as server:
        long = " ".join(f"fact{number}" for number in range(600))
        ended = talk(server, *[f"{turn} {long}" for turn in range(5)])
    assert ended.code == 0
    assert "maximum context length is 3000" in ended.text
    assert "[folded]" in ended.text
    assert shown(ended)[-1] == "Fine."
    assert len(str(sent(server, -1))) < len(str(sent(server, -2)))


def test_a_busy_provider_is_asked_again_when_it_says(home: Path) -> None:
    with provider(error(429, "slow down", retry_after="0"), says("Here.")) as server:
        ended = talk(server, "Hi")
    assert ended.code == 0
    assert shown(ended) == ["> Hi", "[again] m: HTTP 429: slow down", "Here."]


def test_a_turn_without_an_answer_fails_and_can_be_asked_again(home: Path) -> None:
    denied = error(401, "no such key")
    with provider(denied, says("Here.")) as server:
        ended = talk(server, "Hi", "/retry", "/retry")
    assert ended.code == 1
    assert shown(ended)[1].startswith("[stopped] m: ")
    assert shown(ended)[2:] == [
        "What you said is kept; /retry asks again.",
        "> /retry",
        "Here.",
        "> /retry",
        "nothing waits for an answer",
    ]
    assert [each["role"] for each in sent(server)] == ["system", "user"]


def test_words_that_are_no_text_and_escapes_of_a_model_do_no_harm(home: Path) -> None:
    with provider(says("\x1b[31mred\x1b[0m \x07", "日本語")) as server:
        ended = run(*at(server), stdin=b"\xff\xfe \x1b[2J hi\n")
    assert ended.code == 0
    assert shown(ended) == ["> \ufffd\ufffd [2J hi", "[31mred[0m 日本語"]
    assert "\x1b" not in ended.text


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--model", "local/nosuch"), "there is no local model 'nosuch'; there are: local"),
        (("--resume", "nosuch"), "there is no session 'nosuch'"),
        (("--resume", "last"), "there are no sessions yet"),
        (("--context-length", "many"), "many is not a whole number"),
    ],
)
def test_a_mistake_is_a_sentence(home: Path, flags: tuple[str, ...], sentence: str) -> None:
    with provider(says("never")) as server:
        ended = talk(server, "Hi", flags=flags)
    assert ended.code in (1, 2)
    assert sentence in ended.errors
    assert "Traceback" not in ended.errors + ended.text


def test_a_missing_key_is_a_sentence_and_the_words_are_kept(home: Path) -> None:
    ended = run("chat", "--model", "gpt-5", stdin=b"Hi\n")
    assert ended.code == 1
    assert "[stopped] gpt-5: there is no credential; set OPENAI_API_KEY" in ended.text
    (session,) = stored(home)
    assert said_in(home, session.id) == [("user", "Hi")]


def test_a_store_that_cannot_be_read_is_a_sentence(home: Path) -> None:
    file = home / "profiles" / "default" / "holdfast.db"
    file.parent.mkdir(parents=True)
    file.write_text("no database " * 100, "utf-8")
    with provider(says("never")) as server:
        ended = talk(server, "Hi")
    assert ended.code == 1
    assert "is damaged (file is not a database)" in ended.errors


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4.5", "openai/gpt-5"])
def test_an_aggregator_is_asked_by_the_name_as_typed_and_caches_claude(
    model: str, home: Path
) -> None:
    with provider(says("Aye.")) as server:
        ended = run(*at(server, model=model), stdin=b"Hello\n")
    assert ended.code == 0, ended.errors
    (request,) = server.requests
    assert (request.path, request.fields["model"]) == ("/v1/chat/completions", model)
    is_claude = "claude" in model
    assert ("cache_control" in json.dumps(request.fields)) == is_claude
    assert ("Prompt caching is on through 127.0.0.1: four markers" in ended.text) == is_claude
    assert stored(home)[0].model == model
