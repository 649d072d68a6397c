"""What somebody meets who has not read the manual: sentences with a next step, short reprs."""

import asyncio
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import ConfigError, DecodeError, UnknownSession

TALK: list[dict[str, Any]] = [
    {"role": ("user", "assistant")[number % 2], "content": f"word {number} " * 200}
    for number in range(60)
]
CALL: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}],
}


@pytest.fixture
def chat(tmp_path: Path) -> holdfast.Conversation:
    return holdfast.Conversation.open(store=tmp_path / "store.db", context_length=16_000)


def test_messages_of_an_sdk_are_taken_as_they_are() -> None:
    openai = pytest.importorskip("openai.types.chat")
    answer = openai.ChatCompletionMessage(role="assistant", content="Yes.")
    (_, said) = holdfast.compress([{"role": "user", "content": "Hi"}, answer]).messages
    assert said == {"role": "assistant", "content": "Yes."}


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda chat: chat.add("Hi"), "found text; a message is an object such as {'role'"),
        (lambda chat: chat.add({"words": "Hi"}), "an object without a role; a message is an"),
        (lambda chat: chat.add(["Hi"]), r"messages\[0\]: expected a message, found text; a mess"),
        (lambda chat: chat.add([CALL, {"role": "tool", "tool_call_id": "c", "content": {"a": 1}}]),
         "found an object; write it as text, for example with json.dumps"),
        (lambda chat: chat.add_tool_result("c", {"a": 1}), "write it as text, for example with js"),
        (lambda chat: chat.add_tool_result("c", 5), "write it as text, for example with json"),
        (lambda chat: chat.add_tool_result("c", None), "found None; what says nothing is an empty"),
        (lambda chat: chat.add_user(TALK[0]), r"add\(\) takes whole messages"),
    ],
)  # fmt: skip
def test_what_is_no_message_is_a_sentence_that_says_what_is_one(
    chat: holdfast.Conversation, mistake: Callable[[Any], object], sentence: str
) -> None:
    with pytest.raises(DecodeError, match=sentence):
        mistake(chat)
    assert len(chat.log) == 0


@pytest.mark.parametrize("kind", [holdfast.Conversation, holdfast.AsyncConversation])
@pytest.mark.parametrize("made", [lambda of: of(), lambda of: of(model="m"), lambda of: of("id")])
def test_a_conversation_that_is_made_by_its_class_is_told_how_to_open_one(
    kind: type, made: Callable[[type], object]
) -> None:
    with pytest.raises(ConfigError, match=rf"{kind.__name__}\.open\(\.\.\.\) begins one"):
        made(kind)


def test_a_pin_of_an_unknown_message_says_where_its_id_is(
    chat: holdfast.Conversation, tmp_path: Path
) -> None:
    other = holdfast.Conversation.open(store=chat.store)
    elsewhere = other.add_user("Hi")
    for message in (99, "abc", elsewhere):
        with pytest.raises(UnknownSession, match=r"is not part of this conversation .* `id`"):
            chat.pin(message)  # type: ignore[arg-type]
    own = chat.add_user("Hi")
    chat.branch().pin(own)


def test_a_diff_without_a_compaction_says_how_to_make_one(chat: holdfast.Conversation) -> None:
    with pytest.raises(UnknownSession, match=r"was never compacted, .*; compact\(\) compacts it"):
        chat.diff()
    chat.add(TALK)
    chat.compact()
    with pytest.raises(UnknownSession, match="has no compaction 3; it has 1, from 0 to 0"):
        chat.diff(3)


def test_an_unknown_attribute_of_the_one_for_event_loops_cannot_be_set(tmp_path: Path) -> None:
    async def set_them() -> None:
        chat = await holdfast.AsyncConversation.open(store=tmp_path / "store.db")
        for name, sentence in {
            "goal": r"AsyncConversation.goal cannot be set; await set_goal\(...\)",
            "subject": "AsyncConversation.subject cannot be set",
        }.items():
            with pytest.raises(AttributeError, match=sentence):
                setattr(chat, name, "x")

    asyncio.run(set_them())


def test_what_is_printed_of_a_compaction_is_short(chat: holdfast.Conversation) -> None:
    done = holdfast.compress(TALK, context_length=16_000)
    chat.add(TALK)
    report = chat.compact()
    sizes = r"60 -> \d+ messages, [\d,]+ -> [\d,]+ tokens"
    for value, shown in (
        (done, f"<Compaction <Folded {sizes}>>"),
        (report, f"<CompactionReport <Folded {sizes}>>"),
        (report.result, f"<Folded {sizes}>"),
        (chat.diff(), r"<Difference 60 -> \d+ messages: \d+ folded, 0 replaced, \d+ kept>"),
        (chat, f"<Conversation {chat.id} 'word 0.*'>"),
        (chat.log, f"<MessageLog of {chat.id}>"),
    ):
        assert re.fullmatch(shown, repr(value))
    assert str(done).startswith("Compressed: 60 -> ")
    assert str(report).startswith("Compressed: 60 -> ")
    nothing = holdfast.compress(TALK[:1], context_length=16_000).report
    assert repr(nothing).startswith("<CompactionReport <Unchanged: ")
    assert str(nothing).startswith("Nothing was compressed: ")


@pytest.mark.parametrize("place", ["one.db", "{}.db"])
def test_too_many_open_stores_is_a_sentence_that_says_how_to_share_one(
    tmp_path: Path, place: str
) -> None:
    code = f"""
import holdfast
kept = []
try:
    for number in range(60):
        kept.append(holdfast.Conversation.open(store={place!r}.format(number)))
        kept[-1].add_user("Hi")
except holdfast.HoldfastError as error:
    print(error)
"""

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"HOLDFAST_HOME": str(tmp_path), "PATH": "/usr/bin", "PYTHONPATH": ":".join(sys.path)},
        preexec_fn=few,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "this process has too many files open; close() conversations" in done.stdout
    assert "holdfast.Conversations(place)" in done.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"context_length": 0}, "context_length is 0; allowed: a whole number of tokens above 0"),
        ({"context_window": -1}, "context_window is -1; allowed: a whole number"),
        ({"context_length": "128k"}, "context_length is '128k'; allowed: a whole number"),
        ({"tool_limits": {"f": "big"}}, "tool_limits is {'f': 'big'}; allowed: tools' names"),
        ({"tool_limits": 500}, "tool_limits is 500; allowed: tools' names, each with a whole"),
        ({"redactor": ["acme-[0-9]{8}"]}, r"allowed: a Redactor, such as Redactor\("),
        ({"settings": {"model": {"name": "m"}}}, "allowed: what holdfast.config.load returns"),
        ({"model": 123}, "model is 123; allowed: a model's name"),
        ({"store": 5}, "store is 5; allowed: a path, an address such as 'memory:'"),
    ],
)
def test_an_option_of_the_wrong_kind_is_a_sentence_where_it_is_given(
    options: dict[str, Any], sentence: str
) -> None:
    given: dict[str, Any] = {"store": "memory:", **options}
    for opened in (holdfast.Conversation.open, holdfast.Conversations):
        with pytest.raises(ConfigError, match=sentence):
            opened(**given)


def test_one_name_of_a_recall_tool_is_one_name() -> None:
    chat = holdfast.Conversation.open(store="memory:", recall="session_search")
    assert chat.recall == ("session_search",)


def test_a_store_in_memory_by_the_name_of_sqlite_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    holdfast.Conversation.open(store=":memory:").add_user("Hi")
    assert not list(tmp_path.iterdir())


def test_a_name_of_ones_own_where_an_id_is_wanted_is_told_of_keys() -> None:
    with pytest.raises(UnknownSession, match=r"key='user-42' finds the conversation or begins"):
        holdfast.Conversation.open("user-42", store="memory:")


def test_a_search_refuses_what_it_cannot_mean(chat: holdfast.Conversation) -> None:
    for wrong, sentence in (
        ({"limit": -1}, "limit is -1; allowed: a whole number from 1 on"),
        ({"offset": -1}, "offset is -1; allowed: a whole number from 0 on"),
        ({"sort": "date"}, "sort is 'date'; allowed: relevance, newest, oldest"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            chat.search("port", **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda _: holdfast.redact(None), "text is of type NoneType; allowed: a text"),  # type: ignore[arg-type]
        (lambda _: holdfast.Redactor().redact(b"a"), "text is of type bytes; allowed: a text"),  # type: ignore[arg-type]
        (lambda chat: chat.search(5), "query is of type int; allowed: a text"),
        (lambda chat: chat.search("a", limit="5"), "limit is '5'; allowed: a whole number from 1"),
        (lambda chat: setattr(chat, "goal", 5), "goal is of type int; allowed: a text; an empty"),
        (lambda chat: setattr(chat, "title", None), "title is of type NoneType; allowed: a text"),
        (lambda chat: chat.rewind(1.5), "turns is 1.5; allowed: a whole number from 0 on"),
        (lambda chat: chat.compact(["a"]), "focus is of type list; allowed: a text"),
        (lambda chat: chat.branch(title=5), "title is of type int; allowed: a text"),
        (lambda _: holdfast.Conversation.open(store="memory:", title=5), "title is 5; allowed"),  # type: ignore[arg-type]
        (lambda _: holdfast.LiveState(goal=5), "goal is of type int; allowed: a text"),  # type: ignore[arg-type]
        (lambda _: holdfast.LiveState(rules="no"), "rules is of type str; allowed: texts"),  # type: ignore[arg-type]
        (lambda _: holdfast.LiveState(skills=(5,)), "one of the skills is of type int; allowed"),  # type: ignore[arg-type]
    ],
)
def test_a_value_of_another_type_is_refused_in_a_sentence(
    chat: holdfast.Conversation, wrong: Callable[[Any], object], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}"):
        wrong(chat)


@pytest.mark.parametrize("name", ["ask", "chat", "send"])
def test_whoever_wants_to_ask_the_model_is_not_told_to_end(
    chat: holdfast.Conversation, name: str
) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; use call$"):
        getattr(chat, name)
