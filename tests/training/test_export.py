"""Lines of a training file are valid, say where they come from, and repeat nothing."""

import json
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.redaction import Redactor
from holdfast.session import Fork, Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing.builders import assistant, call, step, system, tool, user
from holdfast.testing.strategies import Material, transcripts
from holdfast.training import (
    TRAINING_FORMATS,
    Example,
    LeftOut,
    LeftOutReason,
    SyntheticChoice,
    TrainingExport,
    examples,
    order_of,
)
from holdfast.transcript import Message, Part, Role, Summary, Synthetic, Text, Transcript
from holdfast.wire import DIALECTS, Body
from tests.training.stored import (
    RECORD,
    SHORTER,
    begin,
    branch,
    compact,
    export,
    line_of,
    lines,
    say,
    scratch,
    turns,
)

DROP, MASK, KEEP = SyntheticChoice
LONG = "a line of output\n" * 40
TALK = (
    system("be good"),
    user("build it"),
    *step("c1", "make", LONG),
    assistant("built"),
    user("test it"),
    *step("c2", "make test", LONG.upper()),
    assistant("tested"),
)
MATERIAL = Material(turns=4, has_summaries=True, has_open_calls=True)


def sketch(messages: Sequence[dict[str, object]]) -> list[str]:
    """Return who says what, with the names of calls."""
    found: list[str] = []
    for each in messages:
        words = str(each.get("value") or each.get("content") or "")
        calls = each.get("tool_calls")
        names = [one["function"]["name"] for one in calls] if isinstance(calls, list) else []
        speaker = str(each.get("from") or each["role"])
        found.append(" ".join(filter(None, (speaker, words[:16], *names))))
    return found


def test_a_line_says_where_it_comes_from(store: SqliteStore) -> None:
    about = {"cwd": "/home/me/x", "git_branch": "main"}
    begin(store, "20261116_093000_4d715f", TALK, title="Build", model="gpt-5", metadata=about)
    (line,) = lines(store, TrainingExport(format="sharegpt"))
    tokens = line.pop("tokens")
    assert isinstance(tokens, int)
    assert 500 < tokens < 1_000
    assert sketch(turns({"conversations": line.pop("conversations")})) == [
        "system be good",
        "human build it",
        'gpt <tool_call>\n{"na',
        "tool <tool_response>\n",
        "gpt built",
        "human test it",
        'gpt <tool_call>\n{"na',
        "tool <tool_response>\n",
        "gpt tested",
    ]
    assert line == {
        "id": "20261116_093000_4d715f",
        "source": "cli",
        "model": "gpt-5",
        "title": "Build",
        "started_at": "1970-01-01T00:00:00.001Z",
        "root": "20261116_093000_4d715f",
        "parent": None,
        "fork": None,
        "cwd": "/home/me/x",
        "git_branch": "main",
        "tools_used": ["bash"],
    }


def test_the_system_prompt_stands_beside_the_messages_of_anthropic(store: SqliteStore) -> None:
    begin(store, "s", TALK)
    (line,) = lines(store, TrainingExport(format="anthropic"))
    assert line["system"] == "be good"
    assert [each["role"] for each in turns(line)] == ["user", "assistant"] * 4


def test_the_same_store_gives_the_same_bytes(store: SqliteStore) -> None:
    for number in range(5):
        begin(store, f"s{number}", TALK)
    wanted = TrainingExport(format="openai", redactor=Redactor())
    assert export(store, wanted) == export(store, wanted)


@pytest.mark.parametrize("name", TRAINING_FORMATS)
def test_dropped_kept_and_masked(store: SqliteStore, name: str) -> None:
    begin(store, "s", (*TALK, user("ship it")))
    compact(store, "s", 2, 4)
    say(store, "s", assistant("shipped"))
    dropped = line_of(store, "s", TrainingExport(format=name))
    assert RECORD not in json.dumps(dropped)
    assert SHORTER not in json.dumps(dropped)
    assert "holdfast" not in json.dumps(dropped)
    kept = line_of(store, "s", TrainingExport(format=name, synthetic=KEEP))
    labels = [each["holdfast"] for each in turns(kept) if "holdfast" in each]
    assert {
        "synthetic": "summary",
        "origin": "holdfast",
        "method": "model",
        "model": "gpt-5",
    } in labels
    assert {"synthetic": "stub"} in labels
    assert "masked" not in json.dumps(kept)


def test_a_reply_that_nobody_gave_is_masked_where_the_format_has_a_place(
    store: SqliteStore,
) -> None:
    record = Message(Role.ASSISTANT, (Summary("so far"),), synthetic=Synthetic.SUMMARY)
    begin(store, "s", (user("a"), record, user("b"), assistant("c")))
    label = {"synthetic": "summary", "origin": "holdfast", "masked": True}
    for name, mask in (("openai", {"weight": 0}), ("sharegpt", {"loss": False}), ("anthropic", {})):
        (example,) = export(store, TrainingExport(format=name, synthetic=MASK))
        assert isinstance(example, Example)
        written = turns(json.loads(example.line))
        assert written[1].items() >= {"holdfast": label, **mask}.items()
        assert not {"holdfast", "weight", "loss"} & written[3].keys()
        assert example.masked == 1


def test_a_session_in_which_nobody_answers_is_left_out(store: SqliteStore) -> None:
    begin(store, "a", (user("hello"),))
    begin(store, "b")
    record = Message(Role.ASSISTANT, (Summary("so far"),), synthetic=Synthetic.SUMMARY)
    begin(store, "c", (user("a"), record))
    for choice in (DROP, MASK):
        found = export(store, TrainingExport(format="openai", synthetic=choice))
        assert found == [LeftOut(id_, LeftOutReason.NOTHING_SAID) for id_ in "abc"]


def test_a_session_that_was_deleted_meanwhile_is_left_out(store: SqliteStore) -> None:
    begin(store, "a", TALK)
    order = [*order_of(store, TrainingExport(format="openai").selection), ("x", ("x",))]
    _, last = examples(store, TrainingExport(format="openai"), order)
    assert last == LeftOut("x", LeftOutReason.GONE)


def test_no_secret_is_in_any_line(store: SqliteStore) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCDEFGH"
    told = (
        user(f"use {key}"),
        assistant("", call("c", "bash", json.dumps({"command": f"curl -u {key}", "token": key}))),
        tool("c", f"Authorization: Bearer {key}"),
        assistant(f"I used {key}"),
    )
    begin(store, "s", told, title=f"About {key}", metadata={"cwd": f"/tmp/{key}"})
    for name in TRAINING_FORMATS:
        (example,) = export(store, TrainingExport(format=name, redactor=Redactor()))
        assert isinstance(example, Example)
        assert key not in example.line.decode()
        assert example.redacted == 6
        body = Body([*turns(json.loads(example.line))])
        assert DIALECTS[name].validate(body) == ()
        (open_example,) = export(store, TrainingExport(format=name))
        assert isinstance(open_example, Example)
        assert open_example.line.decode().count(key) >= 6


def test_half_a_character_does_not_stop_an_export(store: SqliteStore) -> None:
    begin(store, "s", (user("half \ud83d of it"), assistant("ok")))
    (line,) = lines(store, TrainingExport(format="openai"))
    assert turns(line)[0]["content"] == "half \ufffd of it"


def test_a_beginning_of_another_conversation_is_left_out(store: SqliteStore) -> None:
    begin(store, "a", TALK)
    branch(store, "a", "b", len(TALK))
    branch(store, "a", "c", 5)
    say(store, "c", user("no, lint it"), assistant("linted"))
    wanted = TrainingExport(format="openai", unique=True)
    found = export(store, wanted)
    # The branch without a word of its own is the same conversation, told before.
    assert [type(each) for each in found] == [Example, LeftOut, Example]
    child = turns(line_of(store, "c", wanted))
    assert sketch(child) == [
        "system be good",
        "user build it",
        "assistant bash",
        "tool a line of output",
        "assistant built",
        "user no, lint it",
        "assistant linted",
    ]
    assert [each.get("weight") for each in child] == [None, None, 0, None, 0, None, None]
    assert child[2]["holdfast"] == {"repeated": True, "masked": True}


def test_a_parent_that_only_begins_its_continuation_is_left_out(store: SqliteStore) -> None:
    begin(store, "a", TALK)
    compact(store, "a", 1, 3, rotated_to="b")
    say(store, "b", user("ship it"), assistant("shipped"))
    found = export(store, TrainingExport(format="sharegpt", unique=True, original=True))
    assert [each.id for each in found if isinstance(each, Example)] == ["b"]
    assert found[0] == LeftOut("a", LeftOutReason.REPEATED)
    window = export(store, TrainingExport(format="sharegpt", unique=True))
    assert [isinstance(each, Example) for each in window] == [True, True]
    second = window[1]
    assert isinstance(second, Example)
    assert second.masked > 0
    assert turns(json.loads(second.line))[-1].get("loss") is None


def test_sessions_of_other_lineages_may_say_the_same(store: SqliteStore) -> None:
    begin(store, "a", TALK)
    begin(store, "b", TALK)
    found = export(store, TrainingExport(format="openai", unique=True))
    assert [isinstance(each, Example) for each in found] == [True, True]


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[Transcript, int, int, bool]]:
    """Return what is said between compactions, and where each of those cuts."""
    count = draw(st.integers(1, 3))
    return [
        (
            _renamed(draw(transcripts(MATERIAL)), f"{number}:"),
            draw(st.integers(0, 12)),
            draw(st.integers(0, 12)),
            draw(st.booleans()),
        )
        for number in range(count)
    ]


def _renamed(messages: Transcript, mark: str) -> Transcript:
    """Return messages whose call ids are used nowhere else."""
    return tuple(
        replace(each, parts=tuple(_marked(part, mark) for part in each.parts)) for each in messages
    )


def _marked(part: Part, mark: str) -> Part:
    for name in ("id", "call_id"):
        if hasattr(part, name):
            return replace(part, **{name: f"{mark}{getattr(part, name)}"})
    return part


def stored_history(store: SqliteStore, history: list[tuple[Transcript, int, int, bool]]) -> int:
    """Store a history, and return how many of its windows show a record or a stub."""
    at = begin(store, "s0")
    compacted = 0
    for number, (said, head, tail, is_rotated) in enumerate(history, 1):
        say(store, at, *said)
        at = compact(store, at, head, tail, rotated_to=f"s{number}" if is_rotated else "")
        shown = str(store.window(at).transcript)
        compacted += RECORD in shown or SHORTER in shown
    say(store, at, user("And now?"), assistant("Done."))
    return compacted


@given(history=histories(), name=st.sampled_from(TRAINING_FORMATS), unique=st.booleans())
def test_every_line_is_valid_whatever_is_done_with_what_nobody_said(
    history: list[tuple[Transcript, int, int, bool]], name: str, unique: bool
) -> None:
    with scratch() as store:
        assert stored_history(store, history) > 0
        for choice in SyntheticChoice:
            for original in (False, True):
                wanted = TrainingExport(
                    format=name, synthetic=choice, original=original, unique=unique
                )
                check_lines(lines(store, wanted), name, choice, original=original)


def check_lines(
    found: list[dict[str, object]], name: str, choice: SyntheticChoice, *, original: bool
) -> None:
    assert found
    for line in found:
        body = Body([*turns(line)], line.get("system"))
        assert DIALECTS[name].validate(body) == ()
        speakers = [str(each.get("from") or each["role"]) for each in body.messages]
        assert speakers[-1] in ("gpt", "assistant")
        spoken = [each for each in speakers if each != "system"]
        assert spoken[0] in ("human", "user")
        if choice is DROP:
            doubled = [one for one, two in pairwise(speakers) if one == two]
            assert set(doubled) <= ({"tool"} if name == "openai" else set())
        text = json.dumps(line)
        if choice is DROP or original:
            assert RECORD not in text
            assert SHORTER not in text
        if choice is DROP:
            assert '"synthetic"' not in text


def test_one_conversation_is_held_at_a_time(store: SqliteStore) -> None:
    words = "all work and no play makes a long conversation " * 2_000
    for number in range(30):
        begin(store, f"s{number:02}", (user(f"{number} {words}"), assistant(words)))
    wanted = TrainingExport(format="openai")
    order = [*order_of(store, wanted.selection)]
    sizes: list[int] = []

    def peak(held: list[Example | LeftOut] | None) -> int:
        tracemalloc.start()
        for each in examples(store, wanted, order):
            assert isinstance(each, Example)
            sizes.append(len(each.line))
            if held is not None:
                held.append(each)
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    peak(None)
    streamed, whole = peak(None), peak([])
    assert streamed < 8 * max(sizes)
    # The measure can fail: whoever holds what is yielded needs all of it.
    assert whole > 20 * max(sizes)


def test_labels_survive_append_compaction_rotation_and_forks(store: SqliteStore) -> None:
    note = Message(Role.USER, (Text("[a reminder]"),), synthetic=Synthetic.NOTE)
    begin(store, "s", (user("a"), assistant("b"), note, assistant("c"), user("d"), assistant("e")))
    child = compact(store, "s", 0, 2, rotated_to="t")
    fork = branch(store, child, "u", 5, Fork.DELEGATION)
    say(store, fork, assistant("f"))
    for id_ in ("s", child, fork):
        line = line_of(store, id_, TrainingExport(format="openai", synthetic=KEEP))
        labels = [each["holdfast"] for each in turns(line) if "holdfast" in each]
        assert any(label.items() >= {"synthetic": "note"}.items() for label in labels)  # type: ignore[attr-defined]
    assert isinstance(store.session(fork), Session)
