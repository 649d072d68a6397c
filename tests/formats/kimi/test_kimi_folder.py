"""A folder of Kimi's files: what stands beside a conversation, and what was on the screen."""

from collections.abc import Mapping
from hashlib import md5

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.events import About, Event, MessageEvent, MetadataUpdated, StrandStarted
from holdfast.formats.kimi import KIMI
from holdfast.formats.reading import documents_from_events
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import Text, shape
from tests.formats.surprises import breaks, surprised

HOME = "home/sessions/wd_1/s-1"
STATE = {
    "createdAt": 1,
    "title": "Stars",
    "isCustomTitle": False,
    "workDir": "/home/ada/sky",
    "agents": {"main": {}, "agent-0": {}, "agent-1": {"parentAgentId": "agent-0"}},
}


def said(text: str) -> dict[str, object]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"type": "context.append_message", "message": message}


def file(path: str, *values: Mapping[str, object]) -> list[SourceRecord]:
    return [SourceRecord(line, value, f"{HOME}/{path}") for line, value in enumerate(values, 1)]


def agent(name: str) -> list[SourceRecord]:
    return file(f"agents/{name}/wire.jsonl", said(f"Hello, {name}"))


def event(kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": 1_780_000_000.5, "message": {"type": kind, "payload": payload}}


def telling(*records: SourceRecord) -> list[Event]:
    return list(KIMI.read(records))


def test_a_state_that_comes_last_says_what_is_known_of_each_agent() -> None:
    records = (*agent("agent-0"), *agent("agent-1"), *agent("main"), *file("state.json", STATE))
    events = telling(*records)
    noted = [each for each in events if isinstance(each, MetadataUpdated)]
    sky = "/home/ada/sky"
    assert noted == [
        MetadataUpdated(strand="s-1/agent-0", about=About(cwd=sky)),
        MetadataUpdated(
            strand="s-1/agent-1",
            about=About(cwd=sky, parent="s-1/agent-0", fork=Fork.DELEGATION),
        ),
        MetadataUpdated(strand="s-1", about=About(title="Stars", cwd=sky)),
    ]
    keys = [each.key for each in events if isinstance(each, MessageEvent)]
    assert keys == ["s-1/agent-0#1", "s-1/agent-1#1", "s-1#1"]


def test_a_state_that_comes_first_is_known_from_the_beginning() -> None:
    forked = {**STATE, "forkedFrom": "s-0"}
    (begun, _) = telling(*file("state.json", forked), *agent("main"))
    assert isinstance(begun, StrandStarted)
    assert begun.about == About(
        id="s-1", title="Stars", cwd="/home/ada/sky", parent="s-0", fork=Fork.BRANCH
    )


def test_a_title_that_nobody_gave_is_none() -> None:
    state = {**STATE, "title": "New Session"}
    (begun, _) = telling(*file("state.json", state), *agent("main"))
    assert isinstance(begun, StrandStarted)
    assert begun.about.title == ""


def test_copies_of_a_session_are_strands_of_their_own() -> None:
    copy = [SourceRecord(each.line, each.value, f"copy/{each.file}") for each in agent("main")]
    begun = [
        each.strand for each in telling(*agent("main"), *copy) if isinstance(each, StrandStarted)
    ]
    assert begun == ["s-1", f"copy/{HOME}/agents/main/wire.jsonl"]


def test_the_older_program_names_a_folder_after_where_it_worked() -> None:
    path = "/home/ada/sky"
    folder = f"kimi/sessions/{md5(path.encode(), usedforsecurity=False).hexdigest()}/s-2"
    homes = SourceRecord(1, {"work_dirs": [{"path": path}]}, "kimi/kimi.json")
    line = SourceRecord(1, {"role": "user", "content": "hi"}, f"{folder}/context.jsonl")
    state = SourceRecord(1, {"custom_title": "Moons", "version": 1}, f"{folder}/state.json")
    (begun, _, noted) = telling(homes, line, state)
    assert isinstance(begun, StrandStarted)
    assert begun.about == About(id="s-2", cwd=path)
    assert noted == MetadataUpdated(strand="s-2", about=About(title="Moons"))


COST = {"input_other": 7, "output": 3, "input_cache_read": 2, "input_cache_creation": 1}
SCREEN = (
    {"type": "metadata", "protocol_version": "1.9"},
    event("TurnBegin", user_input="Name a moon"),
    event("StepBegin", n=1),
    event("ContentPart", type="think", think="Look."),
    event("ToolCall", type="function", id="c1", function={"name": "Read", "arguments": '{"p'}),
    event("ToolCallPart", arguments_part='": 1}'),
    event("StatusUpdate", token_usage=COST),
    event("ToolResult", tool_call_id="c1", return_value={"is_error": True, "message": "No."}),
    event("StepBegin", n=2),
    event("ContentPart", type="text", text="Io."),
    event("StatusUpdate", token_usage=COST),
    event("SteerInput", user_input=[{"type": "text", "text": "Sure?"}]),
)


def test_what_was_on_the_screen_is_the_session_where_nothing_else_is() -> None:
    (document,) = documents_from_events(KIMI.format, KIMI.read(file("wire.jsonl", *SCREEN)))
    assert shape(document.transcript, 60) == "\n".join(
        [
            "00 user      Name a moon",
            '01 assistant (thinking) | -> Read {"p": 1}',
            "02 tool      error: No.",
            "03 assistant Io.",
            "04 user      Sure?",
        ]
    )
    events = telling(*file("wire.jsonl", *SCREEN))
    assert KIMI.recognize(file("wire.jsonl", *SCREEN[1:])) is not None
    (begun,) = (each for each in events if isinstance(each, StrandStarted))
    assert (begun.about.id, begun.about.started) == ("s-1", 1_780_000_000_500)
    assert events[-1] == MetadataUpdated(strand="s-1", about=About(usage=Usage(2, 14, 6, 4, 2)))


def test_beside_its_conversation_the_screen_tells_only_what_it_cost() -> None:
    context = file("context.jsonl", {"role": "user", "content": "Name a moon"})
    events = telling(*context, *file("wire.jsonl", *SCREEN))
    assert [each.message.parts for each in events if isinstance(each, MessageEvent)] == [
        (Text("Name a moon"),)
    ]
    assert events[-1] == MetadataUpdated(strand="s-1", about=About(usage=Usage(2, 14, 6, 4, 2)))


def test_what_a_sub_agent_did_on_the_screen_is_a_session_of_its_own() -> None:
    inner = {"type": "ContentPart", "payload": {"type": "text", "text": "Found it."}}
    child = event("SubagentEvent", task_tool_call_id="c1", event=inner)
    events = telling(*file("wire.jsonl", SCREEN[1], child))
    begun = [each for each in events if isinstance(each, StrandStarted)]
    assert [(each.strand, each.of, each.fork, each.about.id) for each in begun] == [
        ("s-1", None, None, "s-1"),
        ("s-1/c1", "s-1", Fork.DELEGATION, "s-1/c1"),
    ]
    (first, _) = telling(*file("wire.jsonl", child))
    assert isinstance(first, StrandStarted)
    assert (first.about.id, first.about.parent, first.of) == ("s-1/c1", "s-1", None)


def test_a_sub_agent_that_has_a_file_is_not_told_twice() -> None:
    inner = {"type": "ContentPart", "payload": {"type": "text", "text": "Found it."}}
    child = event("SubagentEvent", agent_id="a1", event=inner)
    own = file("subagents/a1/context.jsonl", {"role": "assistant", "content": "Found it."})
    events = telling(*own, *file("wire.jsonl", SCREEN[1], child))
    strands = [each.strand for each in events if isinstance(each, MessageEvent)]
    assert strands == ["s-1/a1", "s-1"]


@given(st.data())
def test_whatever_a_folder_holds_it_is_told_by_the_rules(data: st.DataObject) -> None:
    inner = {"type": "ContentPart", "payload": {"type": "text", "text": "Found it."}}
    child = event("SubagentEvent", agent_id="a1", event=inner)
    records = [
        *agent("agent-0"),
        *agent("main"),
        *file("state.json", STATE),
        *file("wire.jsonl", *SCREEN, child),
    ]
    found = data.draw(surprised(records))
    assert breaks(KIMI, sorted(found, key=lambda record: record.file)) == []
