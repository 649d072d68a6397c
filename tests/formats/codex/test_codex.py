"""A Codex rollout tells the items that the model saw, and nothing twice."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.formats import Problem, read
from holdfast.formats.codex import CODEX
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import Opaque, Role, Thinking, ToolResult, shape
from holdfast.wire import DIALECTS
from tests.formats.conformance import broken_rules
from tests.formats.samples import sample

Line = dict[str, object]
TIME = "2026-01-01T00:00:00.000Z"


def line(kind: str, **payload: object) -> Line:
    return {"timestamp": TIME, "type": kind, "payload": payload}


def item(kind: str, **fields: object) -> Line:
    return line("response_item", type=kind, **fields)


def event(kind: str, **fields: object) -> Line:
    return line("event_msg", type=kind, **fields)


def said(role: str, text: str) -> Line:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def spent(total: int, **last: int) -> Line:
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return event("token_count", info=info)


def tell(*lines: Mapping[str, object]) -> list[Event]:
    events = list(CODEX.read(SourceRecord(number, value) for number, value in enumerate(lines, 1)))
    assert broken_rules(events) == []
    return events


def told(*lines: Line) -> list[MessageEvent]:
    return [each for each in tell(*lines) if isinstance(each, MessageEvent)]


def about(*lines: Line) -> About:
    (begun,) = [each for each in tell(*lines) if isinstance(each, StrandStarted)]
    return begun.about


def test_items_become_messages_and_events_are_skipped() -> None:
    document = read(sample("codex.jsonl"))
    assert (document.format, document.dialect, document.problems) == ("codex", "responses", ())
    assert shape(document.transcript, 90) == "\n".join(
        [
            "00 system    You are a coding agent.",
            "01 system    Sandbox: workspace-write",
            "02 user      Why is the build red?",
            '03 assistant (thinking) | I look at the log. | -> exec_command {"cmd":"make"} | '
            '-> exec_command {"cmd"…',
            "04 tool      result: exit code 2: no rule to make target",
            "05 tool      result: a1b2c3d fix",
            '06 assistant -> apply_patch {"input": "*** Begin Patch\\n*** End Patch"}',
            '07 tool      result: {"output":"ok"}',
            "08 user      [summary] The build was fixed by a patch to the Makefile.",
            "09 user      Ship it",
            "10 assistant Shipped.",
        ]
    )


def test_a_compaction_of_the_oldest_kind_keeps_instructions_and_prompts() -> None:
    document = read(sample("codex.jsonl"))
    assert document.live == (*document.transcript[:3], *document.transcript[8:])


def test_encrypted_reasoning_is_kept() -> None:
    thought = read(sample("codex.jsonl")).transcript[3].parts[0]
    assert isinstance(thought, Thinking)
    assert thought.signature == "b3BhcXVl"


def test_the_oldest_files_hold_bare_items() -> None:
    document = read(sample("codex_bare.jsonl"))
    assert document.about == About(id="c-0", started=1_751_328_000_000)
    assert shape(document.transcript) == "\n".join(
        [
            "00 user      List the files",
            '01 assistant -> shell {"command":["ls"]}',
            '02 tool      result: {"output":"main.rs","metadata":{"exit_code":0}}',
            "03 assistant One file: main.rs",
        ]
    )


def test_an_item_that_cannot_be_read_is_a_problem() -> None:
    lines = [
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "hi"}},
        {"type": "response_item", "payload": {"type": "function_call", "name": 5}},
        {"type": "compacted", "payload": {"message": ""}},
    ]
    document = read("\n".join(map(json.dumps, lines)))
    assert shape(document.transcript) == "00 user      hi"
    assert [problem.line for problem in document.problems] == [2]
    assert isinstance(document.problems[0], Problem)


def test_the_first_line_says_whose_session_it_is() -> None:
    meta = line(
        "session_meta",
        id="s-1",
        timestamp="2026-01-01T00:00:01Z",
        cwd="/srv/shop",
        cli_version="0.125.0",
        git={"branch": "main"},
        originator="codex-tui",
    )
    assert about(meta) == About(
        id="s-1",
        cwd="/srv/shop",
        git_branch="main",
        version="0.125.0",
        started=1_767_225_601_000,
        more={"git": {"branch": "main"}, "originator": "codex-tui"},
    )


@pytest.mark.parametrize(
    ("fields", "parent", "fork"),
    [
        ({"forked_from_id": "p"}, "p", Fork.BRANCH),
        ({"history_base": {"thread_id": "p"}}, "p", Fork.BRANCH),
        ({"forked_from_id": "p", "parent_thread_id": "q"}, "q", Fork.DELEGATION),
        (
            {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "q"}}}},
            "q",
            Fork.DELEGATION,
        ),
        ({"source": "cli"}, "", None),
    ],
)
def test_a_session_that_came_from_another_says_how(
    fields: dict[str, object], parent: str, fork: Fork | None
) -> None:
    found = about(line("session_meta", id="s", **fields))
    assert (found.parent, found.fork) == (parent, fork)


def test_a_fork_repeats_its_parent_and_a_resumed_session_itself() -> None:
    events = tell(
        line("session_meta", id="child", forked_from_id="parent"),
        line("session_meta", id="parent", cwd="/elsewhere"),
        line("session_meta", id="child", cli_version="0.2.0"),
        event("thread_name_updated", thread_name="A better name"),
    )
    assert [each.about for each in events if isinstance(each, MetadataUpdated)] == [
        About(version="0.2.0"),
        About(title="A better name"),
    ]


def test_an_answer_is_made_by_the_model_of_its_turn() -> None:
    events = tell(
        line("turn_context", model="m-1"),
        said("assistant", "One"),
        line("turn_context", model="m-1"),
        line("turn_context", model="m-2"),
        said("assistant", "Two"),
    )
    assert [each.native.model for each in events if isinstance(each, MessageEvent)] == [
        "m-1",
        "m-2",
    ]
    noted = [each.about.model for each in events if isinstance(each, MetadataUpdated)]
    assert noted == ["m-1", "m-2"]


def test_the_items_of_one_answer_share_a_reply() -> None:
    found = told(
        item("reasoning", id="rs", summary=[]),
        said("assistant", "I look."),
        item("function_call", call_id="c", name="shell", arguments="{}"),
        item("function_call_output", call_id="c", output="ok"),
        said("assistant", "Done."),
        said("assistant", "Really."),
    )
    assert [each.native.reply for each in found] == [
        *("answer-1", "answer-1", "answer-1", ""),
        *("answer-2", "answer-3"),
    ]


def test_what_an_answer_cost_is_told_once_with_the_last_of_its_messages() -> None:
    found = told(
        spent(0),
        item("reasoning", id="rs", summary=[]),
        said("assistant", "I look."),
        spent(130, input_tokens=100, cached_input_tokens=60, output_tokens=30),
        spent(130, input_tokens=100, cached_input_tokens=60, output_tokens=30),
        event("token_count", info=None),
    )
    assert [each.native.usage for each in found] == [None, Usage(1, 40, 30, 60)]


def test_a_cost_before_its_answer_is_told_with_the_answer() -> None:
    found = told(
        spent(7, output_tokens=7),
        said("user", "hi"),
        said("assistant", "hello"),
        spent(9, output_tokens=2),
        said("assistant", "bye"),
    )
    assert [each.native.usage for each in found] == [None, Usage(1, 0, 7), Usage(1, 0, 2)]


@pytest.mark.parametrize(
    ("output", "is_error"),
    [
        ("Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno", True),
        ("Command: sh -c 'a\nb'\nChunk ID: a\nProcess exited with code 2\nOutput:\n", True),
        ("Exit code: 127\nWall time: 0 seconds\nOutput:\n", True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 1", False),
        ("Wall time: 1 seconds\nProcess running with session ID 5\nOutput:\nExit code: 3", False),
        ("the log says: Process exited with code 1", False),
        ('{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.1}}', True),
        ('{"output":"ok","metadata":{"exit_code":0,"duration_seconds":0.1}}', False),
        ("apply_patch verification failed: no such file", True),
        ("", False),
    ],
)
def test_only_codex_itself_says_that_a_tool_failed(output: str, is_error: bool) -> None:
    _, result = told(
        item("function_call", call_id="c", name="shell", arguments="{}"),
        item("function_call_output", call_id="c", output=output),
    )
    (part,) = result.message.parts
    assert isinstance(part, ToolResult)
    assert part.is_error is is_error


def test_items_that_only_the_api_understands_survive_word_for_word() -> None:
    items = [
        {"type": "web_search_call", "status": "completed", "action": {"query": "weather"}},
        {"type": "image_generation_call", "id": "ig_1", "result": "QQ=="},
        {"type": "compaction", "encrypted_content": "c2VhbA=="},
        {"type": "local_shell_call", "call_id": "s", "action": {"command": ["ls"]}},
        {"type": "agent_message", "author": "a", "content": [{"type": "input_text", "text": "go"}]},
    ]
    found = told(*(line("response_item", **each) for each in items))
    messages = tuple(each.message for each in found)
    assert DIALECTS["responses"].encode(messages).messages == items
    assert messages[4].parts == (Opaque("responses", items[4], "go"),)


def test_notes_of_the_program_to_itself_are_passed_over() -> None:
    lines = [item("ghost_snapshot"), line("world_state", full=True), event("task_started")]
    assert told(*lines, event("agent_message", message="hi"), event("error", message="no")) == []


def test_a_prompt_that_only_the_screen_shows_is_told() -> None:
    found = told(
        event("user_message", message="Never sent?"),
        said("assistant", "It was."),
        said("user", "Sent"),
        event("user_message", message="Sent"),
        event("user_message", message="Early"),
        event("task_started", turn_id="t"),
        said("user", "Early"),
        event("user_message", message="Next to last"),
        event("user_message", message="The last words"),
    )
    texts = [(each.message.role, each.message.text) for each in found]
    assert texts == [
        (Role.USER, "Never sent?"),
        (Role.ASSISTANT, "It was."),
        (Role.USER, "Sent"),
        (Role.USER, "Early"),
        (Role.USER, "Next to last"),
        (Role.USER, "The last words"),
    ]


def test_a_rollback_takes_the_newest_turns_back_with_what_was_injected_for_them() -> None:
    events = tell(
        said("developer", "rules"),
        said("user", "<environment_context>here</environment_context>"),
        said("user", "one"),
        said("assistant", "1"),
        said("developer", "more rules"),
        said("user", "two"),
        said("assistant", "2"),
        event("thread_rolled_back", num_turns=1),
        said("user", "three"),
        event("thread_rolled_back", num_turns=9),
        event("thread_rolled_back", num_turns=0),
    )
    rewound = [each for each in events if isinstance(each, RewindEvent)]
    assert [each.shows for each in rewound] == [("#1", "#2", "#3", "#4"), ("#1", "#2")]


def test_a_compaction_finds_what_it_repeats_and_tells_the_rest() -> None:
    sealed = {"type": "compaction", "encrypted_content": "c2VhbA=="}
    history = [
        *(said("user", text)["payload"] for text in ("go on", "new words", "go on")),
        sealed,
    ]
    events = tell(
        line("session_meta", id="s", base_instructions={"text": "Be good."}),
        *(said("user", "go on") for _ in range(3)),
        said("assistant", "Yes."),
        line("compacted", message="", replacement_history=history, window_id="w-2"),
        event("context_compacted"),
    )
    assert events[-3:-1] == [each for each in events if isinstance(each, MessageEvent)][-2:]
    assert events[-1] == CompactionEvent(
        strand=MAIN,
        line=6,
        id="w-2",
        shows=("#1", "#3", "#6", "#4", "#6.1"),
        at=1_767_225_600_000,
    )
    (told_seal,) = [
        each for each in events if isinstance(each, MessageEvent) and each.key == "#6.1"
    ]
    assert told_seal.message.parts == (Opaque("responses", sealed),)


@pytest.mark.parametrize(
    "last",
    [
        "Another language model started to solve this problem and produced a summary:\nAll done.",
        "All done.",
        "Something else",
    ],
)
def test_the_summary_of_a_compaction_is_told_as_one(last: str) -> None:
    history = [said("user", "go on")["payload"], said("user", last)["payload"]]
    events = tell(
        said("user", "go on"),
        line("compacted", message="All done.", replacement_history=history),
    )
    summaries = [
        each.message.summary
        for each in events
        if isinstance(each, MessageEvent) and each.message.summary is not None
    ]
    assert [(each.text, each.origin) for each in summaries] == [("All done.", "codex")]
    (folded,) = [each for each in events if isinstance(each, CompactionEvent)]
    assert folded.shows[0] == "#1"


SCRAPS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
KINDS = ("session_meta", "turn_context", "compacted", "response_item", "event_msg", "?")
FIELDS = (
    "type role content id name call_id arguments output message replacement_history num_turns info "
    "text summary base_instructions git source last_token_usage total_token_usage window_id"
).split()
WORDS = (
    "message user assistant function_call function_call_output reasoning compaction user_message "
    "token_count thread_rolled_back agent_reasoning thread_name_updated"
).split()


@st.composite
def scrambled(draw: st.DrawFn) -> list[Line]:
    values = st.sampled_from(WORDS) | SCRAPS
    named = st.fixed_dictionaries({"type": values})
    payloads = st.builds(
        lambda fields, kind: fields | kind,
        st.dictionaries(st.sampled_from(FIELDS), values, max_size=6),
        named,
    )
    notes = st.dictionaries(
        st.sampled_from(("id", "reply", "error", "thought", "extras", "fold", "about", "usage")),
        SCRAPS | st.dictionaries(st.sampled_from(("shows", "summary", "id")), SCRAPS, max_size=3),
        max_size=3,
    )
    lines: list[Line] = []
    for _ in range(draw(st.integers(0, 6))):
        entry: Line = {"type": draw(st.sampled_from(KINDS)), "payload": draw(payloads | SCRAPS)}
        if draw(st.booleans()):
            entry["holdfast"] = draw(notes)
        lines.append(entry)
    return lines


@given(scrambled())
def test_no_line_is_too_strange_to_read(lines: list[Line]) -> None:
    tell(*lines)
    assert CODEX.recognize([SourceRecord(1, each) for each in lines]) is None or lines


def test_what_was_told_stays_told_but_for_the_cost_of_the_newest_answer() -> None:
    lines = [
        said("user", "go"),
        said("assistant", "Well."),
        spent(5, output_tokens=5),
        said("user", "on"),
        line("compacted", message="All done."),
    ]
    whole = [free(each) for each in told(*lines)]
    for count in range(len(lines)):
        part = [free(each) for each in told(*lines[:count])]
        assert part == whole[: len(part)]


def free(each: MessageEvent) -> MessageEvent:
    return replace(each, native=replace(each.native, usage=None))
