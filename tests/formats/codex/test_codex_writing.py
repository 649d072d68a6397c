"""A rollout that we write is one that Codex could have written, and reads back as it was."""

import json
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from msgspec import structs

from holdfast.formats import read, write
from holdfast.formats.codex import CODEX
from holdfast.formats.content import summarized
from holdfast.formats.documents import window_events
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import mapping
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tests.formats.codex.rules import violations
from tests.formats.event_strategies import Sayable, comparable, event_streams

SAYS = Sayable(
    dialect="responses",
    origin="codex",
    has_blanks=True,
    has_system=True,
    has_heads=True,
    has_rewinds=True,
    has_branches=False,
    has_delegations=False,
)
FOREIGN = replace(SAYS, dialect="anthropic", ids="hex", has_images=False, has_result_images=False)
START = 1_700_000_000_000


def records(events: Iterable[Event]) -> list[SourceRecord]:
    assert CODEX.write is not None
    return [
        SourceRecord(line, json.loads(text)) for line, text in enumerate(CODEX.write(events), 1)
    ]


def payloads(events: Iterable[Event], kind: str) -> list[dict[str, object]]:
    """Return what stands on the lines of a kind: a type of line, or of an event."""
    found = [
        (mapping(each.value), mapping(mapping(each.value)["payload"])) for each in records(events)
    ]
    return [dict(inner) for entry, inner in found if kind in (entry["type"], inner.get("type"))]


def plain(events: Iterable[Event]) -> tuple[list[Event], list[Usage]]:
    """Return comparable events, and what the answers cost.

    A rollout tells a cost with the last message of an answer, and names the model of a session
    with its newest turn.
    """
    bare: list[Event] = []
    costs: list[Usage] = []
    for event in comparable(events):
        match event:
            case StrandStarted(about=about):
                bare.append(replace(event, about=replace(about, model="")))
            case MessageEvent(native=native):
                costs += [] if native.usage is None else [native.usage]
                bare.append(structs.replace(event, native=structs.replace(native, usage=None)))
            case _:
                bare.append(event)
    return bare, costs


def talk(*messages: Message | MessageEvent, about: About | None = None) -> list[Event]:
    events: list[Event] = [
        StrandStarted(strand=MAIN, line=1, about=about or About(id="s", started=START))
    ]
    for place, each in enumerate(messages, 1):
        if isinstance(each, MessageEvent):
            events.append(each)
        else:
            events.append(MessageEvent(strand=MAIN, line=place, key=f"#{place}", message=each))
    return events


def user(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


def answer(*parts: Text | Thinking | ToolCall | Opaque | Media) -> Message:
    return Message(Role.ASSISTANT, parts)


@given(event_streams(SAYS))
def test_what_was_told_is_told_again_and_keeps_the_rules(events: list[Event]) -> None:
    written = records(events)
    assert plain(CODEX.read(written)) == plain(events)
    assert list(violations(written)) == []
    assert records(events) == written


@given(event_streams(FOREIGN))
def test_thoughts_of_another_provider_survive_and_are_never_sent(events: list[Event]) -> None:
    written = records(events)
    assert plain(CODEX.read(written)) == plain(events)
    assert list(violations(written)) == []
    assert payloads(events, "reasoning") == []


def test_an_answer_of_several_parts_becomes_an_item_each() -> None:
    call = ToolCall("c", "shell", "{}")
    events = talk(user("go"), answer(Text("I look."), call))
    read_back = [each for each in CODEX.read(records(events)) if isinstance(each, MessageEvent)]
    assert [each.message.parts for each in read_back] == [
        (Text("go"),),
        (Text("I look."),),
        (call,),
    ]
    assert read_back[1].native.reply == read_back[2].native.reply != ""


def test_answers_that_codex_would_take_for_one_stay_apart() -> None:
    events = talk(user("go"), answer(Text("I look.")), answer(ToolCall("c", "shell", "{}")))
    replies = [
        each.native.reply for each in CODEX.read(records(events)) if isinstance(each, MessageEvent)
    ]
    assert len(set(replies)) == 3


def test_a_turn_is_opened_shown_and_closed() -> None:
    events = talk(user("one"), answer(Text("1")), user("two"), about=About(id="s", model="m"))
    kinds = [
        mapping(mapping(each.value)["payload"]).get("type") or mapping(each.value)["type"]
        for each in records(events)
    ]
    assert kinds == [
        "session_meta",
        *("task_started", "turn_context", "message", "user_message"),
        *("agent_message", "message", "task_complete"),
        *("task_started", "turn_context", "message", "user_message", "task_complete"),
    ]


def test_the_screen_shows_the_texts_of_a_user_as_one_and_those_of_an_answer_apart() -> None:
    prompt = Message(Role.USER, (Text("one "), Text("two")))
    events = talk(prompt, answer(Text("1"), Text("2")))
    assert list(violations(records(events))) == []
    assert [each["message"] for each in payloads(events, "user_message")] == ["one two"]
    assert [each["message"] for each in payloads(events, "agent_message")] == ["1", "2"]
    told = [each.message for each in CODEX.read(records(events)) if isinstance(each, MessageEvent)]
    assert [each.parts for each in told] == [prompt.parts, (Text("1"), Text("2"))]


def test_the_first_system_prompt_stands_beside_the_items_and_later_ones_among_them() -> None:
    events = talk(Message(Role.SYSTEM, (Text("Be good."),)), Message(Role.SYSTEM, (Text("Now."),)))
    (meta,) = payloads(events, "session_meta")
    assert meta["base_instructions"] == {"text": "Be good."}
    assert [each["role"] for each in payloads(events, "message")] == ["developer"]


def test_a_result_is_the_kind_of_item_that_its_call_asks_for() -> None:
    (call,) = [
        each.message
        for each in CODEX.read(
            [
                SourceRecord(
                    1, {"type": "custom_tool_call", "call_id": "c", "name": "p", "input": "x"}
                ),
            ]
        )
        if isinstance(each, MessageEvent)
    ]
    events = talk(user("go"), call, Message(Role.TOOL, (ToolResult("c", (Text("ok"),)),)))
    assert len(payloads(events, "custom_tool_call_output")) == 1
    assert list(violations(records(events))) == []


def test_an_id_that_is_no_uuid_is_kept_in_a_note() -> None:
    about = About(
        id="session-1",
        version="2.1.7",
        started=START,
        parent="not a uuid",
        fork=Fork.BRANCH,
    )
    events = talk(user("go"), about=about)
    assert list(violations(records(events))) == []
    begun = next(iter(CODEX.read(records(events))))
    assert isinstance(begun, StrandStarted)
    assert replace(begun.about, cwd="", more={}) == about


def test_a_sub_agent_of_a_known_session_says_so_as_codex_does() -> None:
    parent = "00000000-0000-4000-8000-000000000001"
    about = About(id="s", started=START, parent=parent, fork=Fork.DELEGATION)
    (meta,) = payloads(talk(about=about), "session_meta")
    assert meta["parent_thread_id"] == parent


def test_a_session_that_never_was_with_a_provider_names_none() -> None:
    (meta,) = payloads(talk(user("go")), "session_meta")
    assert "model_provider" not in meta
    (meta,) = payloads(talk(about=About(more={"model_provider": "azure"})), "session_meta")
    assert meta["model_provider"] == "azure"


def test_a_cost_that_codex_cannot_say_is_kept() -> None:
    usage = Usage(1, 0, 0, 0, 0, 0.25)
    native = SourceMetadata(usage=usage)
    told = MessageEvent(strand=MAIN, line=2, key="a", message=answer(Text("1")), native=native)
    assert plain(CODEX.read(records(talk(user("go"), told))))[1] == [usage]


def test_branches_and_sub_agents_are_left_out() -> None:
    branch = StrandStarted(strand="b", line=2, about=About(), of=MAIN, fork=Fork.BRANCH, after="#1")
    other = MessageEvent(strand="b", line=3, key="x", message=user("elsewhere"))
    noted = MetadataUpdated(strand="b", about=About(title="elsewhere"))
    events = [*talk(user("here")), branch, noted, other]
    assert records(events) == records(talk(user("here")))


def test_a_compacted_window_is_what_codex_resumes_with() -> None:
    window = (
        Message(Role.SYSTEM, (Text("Be good."),)),
        user("Fix the build"),
        summarized("The build is fixed.", "holdfast"),
        user("Ship it"),
        answer(Text("Shipped.")),
    )
    events = list(window_events(window, About(id="s", started=START)))
    (compacted,) = payloads(events, "compacted")
    history = compacted["replacement_history"]
    assert isinstance(history, list)
    assert [mapping(each)["role"] for each in history] == ["user", "user"]
    assert compacted["message"] == mapping(mapping(history[1])["content"][0])["text"]  # type: ignore[index]
    document = read("\n".join(json.dumps(each.value) for each in records(events)))
    # A file says that something is a summary, and not that we wrote it.
    claim = Summary("The build is fixed.", claimed=True)
    expected = [(claim,) if message.summary else message.parts for message in window]
    assert [message.parts for message in document.live] == expected
    assert read(write(document, document.live, to="codex")).live == document.live


def test_a_summary_without_a_compaction_is_a_message_like_others() -> None:
    events = talk(user("go"), summarized("Done.", "codex"), user("on"))
    told = [
        each
        for each in CODEX.read(records(events))
        if isinstance(each, MessageEvent | CompactionEvent)
    ]
    assert [type(each) for each in told] == [MessageEvent, MessageEvent, MessageEvent]
    assert payloads(events, "compacted") == []


def test_nothing_told_is_a_session_without_messages() -> None:
    assert [mapping(each.value)["type"] for each in records([])] == ["session_meta"]


def test_turns_that_were_taken_back_are_rolled_back_as_codex_does() -> None:
    events = talk(user("one"), answer(Text("1")), user("two"), answer(Text("2")), user("three"))
    rewound = RewindEvent(strand=MAIN, line=6, shows=("#1", "#2"))
    rollbacks = payloads([*events, rewound], "thread_rolled_back")
    assert rollbacks == [{"type": "thread_rolled_back", "num_turns": 2}]
    assert payloads([*events, rewound], "compacted") == []


def test_what_no_number_of_turns_takes_back_is_written_as_what_is_left() -> None:
    folded = CompactionEvent(strand=MAIN, line=3, id="f", shows=("#1", "#2"))
    rewound = RewindEvent(strand=MAIN, line=4, shows=("#1",))
    events = [*talk(user("one"), summarized("Done.", "codex")), folded, rewound]
    assert payloads(events, "thread_rolled_back") == []
    assert len(payloads(events, "compacted")) == 2
    assert [each for each in CODEX.read(records(events)) if isinstance(each, RewindEvent)] == [
        replace(rewound, line=8, shows=("#3",), at=START + 3_000)
    ]
