"""What Grok's screen showed: when, at what cost, and what its model no longer sees."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.events import CompactionEvent, Event, MessageEvent, RewindEvent, StrandStarted
from holdfast.formats.grok import GROK
from holdfast.formats.reading import documents_from_events
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import Media, Text, Thinking, shape
from tests.formats.surprises import breaks, surprised

AT = 1_780_000_000_000
HOME = "sessions/%2Fsky/g-1"


def shown(line: int, kind: str, **fields: object) -> SourceRecord:
    """Return a line of what was shown, a second later than the line before it."""
    update = {"sessionUpdate": kind, **fields}
    params = {"sessionId": "g-1", "update": update, "_meta": {"agentTimestampMs": AT + line * 1000}}
    method = "_x.ai/session/update" if "_" in kind and "chunk" not in kind else "session/update"
    value = {"timestamp": 1_780_000_000, "method": method, "params": params}
    return SourceRecord(line, value, f"{HOME}/updates.jsonl")


def asked(line: int, text: str, number: int | None) -> SourceRecord:
    meta = {} if number is None else {"_meta": {"promptIndex": number}}
    return shown(line, "user_message_chunk", content={"type": "text", "text": text}, **meta)


def answered(line: int, text: str) -> SourceRecord:
    return shown(line, "agent_message_chunk", content={"type": "text", "text": text})


def called(line: int, call: str, given: object = None) -> SourceRecord:
    tool = {"x.ai/tool": {"name": "run"}}
    return shown(line, "tool_call", toolCallId=call, title="Run it", rawInput=given, _meta=tool)


def done(line: int, call: str, state: str, **fields: object) -> SourceRecord:
    return shown(line, "tool_call_update", toolCallId=call, status=state, **fields)


def items(*values: Mapping[str, object]) -> list[SourceRecord]:
    file = f"{HOME}/chat_history.jsonl"
    return [SourceRecord(line, value, file) for line, value in enumerate(values, 1)]


def user(text: str, number: int | None = None) -> dict[str, object]:
    numbered: dict[str, object] = {} if number is None else {"prompt_index": number}
    return {"type": "user", "content": [{"type": "text", "text": text}], **numbered}


def model(text: str) -> dict[str, object]:
    return {"type": "assistant", "content": text, "model_id": "grok-9"}


def telling(*records: SourceRecord) -> list[Event]:
    return list(GROK.read(records))


def live(*records: SourceRecord) -> str:
    (document,) = documents_from_events(GROK.format, GROK.read(records))
    return shape(document.live, 60)


def whole(*records: SourceRecord) -> str:
    (document,) = documents_from_events(GROK.format, GROK.read(records))
    return shape(document.transcript, 60)


SYSTEM = {"type": "system", "content": "You help."}


def test_the_screen_says_when_something_was_said_and_what_failed() -> None:
    calls = [{"id": "c1", "name": "run", "arguments": "{}"}]
    chat = items(
        SYSTEM,
        user("<user_query>Go</user_query>", 0),
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "assistant", "content": "", "tool_calls": calls},
        {"type": "tool_result", "tool_call_id": "c1", "content": "no"},
        model("Done."),
    )
    thought = shown(2, "agent_thought_chunk", content={"type": "text", "text": "Hm."})
    screen = (
        asked(1, "Go", 0),
        thought,
        called(3, "c1", {}),
        done(4, "c1", "failed"),
        answered(5, "Do"),
        answered(6, "ne."),
    )
    told = [each for each in telling(*chat, *screen) if isinstance(each, MessageEvent)]
    seconds = [each.native.at and (each.native.at - AT) // 1000 for each in told]
    assert seconds == [None, 1, 2, 3, 4, 5]
    (begun,) = (each for each in telling(*chat, *screen) if isinstance(each, StrandStarted))
    assert begun.about.started == AT + 1000
    assert [each.is_error for each in told[4].message.results] == [True]


def test_a_picture_that_only_the_screen_has_is_shown_with_its_prompt() -> None:
    picture = {"type": "image", "data": "iVBORw0=", "mimeType": "image/png"}
    piece = shown(2, "user_message_chunk", content=picture, _meta={"promptIndex": 0})
    screen = (asked(1, "Look", 0), piece)
    (_, told) = telling(*items(user("Look", 0)), *screen)
    assert isinstance(told, MessageEvent)
    assert told.message.parts == (Text("Look"), Media(media_type="image/png", data="iVBORw0="))
    known = {"type": "image", "url": "data:image/png;base64,iVBORw0="}
    own = {"type": "user", "content": [known], "prompt_index": 0}
    (_, told) = telling(*items(own), *screen)
    assert isinstance(told, MessageEvent)
    assert len(told.message.parts) == 1


def test_what_turns_cost_adds_up_and_one_that_is_written_twice_counts_once() -> None:
    usage = {
        "inputTokens": 100,
        "outputTokens": 20,
        "cachedReadTokens": 60,
        "cacheCreationTokens": 10,
        "modelCalls": 3,
        "costUsdTicks": 5_000_000_000,
    }
    other = {"modelUsage": {"grok-9": {"inputTokens": 7, "outputTokens": 2}}}
    turns = (
        shown(1, "turn_completed", prompt_id="p1", usage=usage),
        shown(2, "turn_completed", prompt_id="p1", usage=usage),
        shown(3, "turn_completed", prompt_id="p2", usage=other),
        shown(4, "turn_completed", prompt_id="p3", stop_reason="cancelled"),
    )
    begun = telling(*items(user("Go", 0)), *turns)[0]
    assert isinstance(begun, StrandStarted)
    assert begun.about.usage == Usage(4, 37, 22, 60, 10, 0.5)


def test_what_a_sub_agent_cost_is_counted_with_its_parent_alone() -> None:
    usage = {"inputTokens": 100, "outputTokens": 20}
    turn = shown(1, "turn_completed", prompt_id="p1", usage=usage)
    summary = {"info": {"id": "g-2"}, "chat_format_version": 1, "session_kind": "subagent"}
    beside = SourceRecord(1, summary, f"{HOME}/summary.json")
    begun = telling(*items(user("Go", 0)), beside, turn)[0]
    assert isinstance(begun, StrandStarted)
    assert begun.about.usage is None


@pytest.mark.parametrize(
    ("kind", "fork"), [("fork", Fork.BRANCH), ("subagent_resume", Fork.DELEGATION)]
)
def test_a_session_that_came_from_another_forked_or_works_for_it(kind: str, fork: Fork) -> None:
    known = {"parent_session_id": "g-0", "session_kind": kind, "chat_format_version": 1}
    beside = SourceRecord(1, {"info": {"id": "g-1"}, **known}, f"{HOME}/summary.json")
    begun = telling(*items(user("Go", 0)), beside)[0]
    assert isinstance(begun, StrandStarted)
    assert (begun.about.parent, begun.about.fork) == ("g-0", fork)


def test_a_child_whose_files_lie_in_its_parents_folder_is_a_session_of_its_own() -> None:
    below = f"{HOME}/subagents/g-2"
    link = {"parent_session_id": "g-1", "subagent_type": "explore", "child_session_id": "g-2"}
    summary = {"info": {"id": "g-1"}, "chat_format_version": 1, "generated_title": "Sky"}
    records = (
        *items(user("Go", 0)),
        SourceRecord(1, user("Look", 0), f"{below}/chat_history.jsonl"),
        SourceRecord(1, link, f"{below}/meta.json"),
        SourceRecord(1, summary, f"{HOME}/summary.json"),
    )
    begun = [each.about for each in telling(*records) if isinstance(each, StrandStarted)]
    found = [(each.id, each.title, each.parent, each.fork) for each in begun]
    assert sorted(found) == [("g-1", "Sky", "", None), ("g-2", "", "g-1", Fork.DELEGATION)]


def test_pictures_of_a_result_are_parts_of_their_own() -> None:
    picture = {"type": "image", "url": "data:image/png;base64,iVBORw0="}
    result = {"type": "tool_result", "tool_call_id": "c", "content": "ok", "images": [picture]}
    (_, told) = telling(*items(result))
    assert isinstance(told, MessageEvent)
    content = told.message.results[0].content
    assert content == (Text("ok"), Media(media_type="image/png", data="iVBORw0="))


def test_an_older_answer_has_its_thought_with_it() -> None:
    sealed = {**model("Io."), "reasoning": {"text": "Think.", "encrypted": "c2VhbA=="}}
    plain = {**model("Io."), "reasoning": {"text": "Think."}}
    told = [each for each in telling(*items(sealed, plain)) if isinstance(each, MessageEvent)]
    thoughts = [each.message.parts[0] for each in told]
    assert [isinstance(each, Thinking) for each in thoughts] == [True, True]
    assert [getattr(each, "text", "") for each in thoughts] == ["Think.", "Think."]
    assert [getattr(each, "signature", "") for each in thoughts] == ["c2VhbA==", None]


SUMMARY = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The summary below covers the earlier portion of the conversation.\n\nStars were named."
)
FOLD = {"checkpoint_id": "k1", "prompt_index_at_compaction": 1}


def compacted(*, keeps: bool) -> list[SourceRecord]:
    left = [SYSTEM, user(SUMMARY)]
    file = f"{HOME}/compaction_checkpoints/k1.json"
    kept = [SourceRecord(1, {**FOLD, "compacted_history": left}, file)] if keeps else []
    chat = items(*left, user("And now?", 1), model("Deneb."))
    screen = (
        asked(1, "Name a star", 0),
        called(2, "c1"),
        done(3, "c1", "completed", rawInput={"sky": 1}, rawOutput={"stars": 2}),
        answered(4, "Vega."),
        shown(5, "compaction_checkpoint", **FOLD),
        shown(6, "auto_compact_completed", tokens_before=90, tokens_after=9),
        asked(7, "And now?", 1),
        answered(8, "Deneb."),
    )
    return [*chat, *kept, *screen]


@pytest.mark.parametrize("keeps", [True, False])
def test_what_was_said_before_a_compaction_is_told_from_the_screen(*, keeps: bool) -> None:
    records = compacted(keeps=keeps)
    assert whole(*records) == "\n".join(
        [
            "00 user      Name a star",
            '01 assistant -> run {"sky": 1}',
            '02 tool      result: {"stars": 2}',
            "03 assistant Vega.",
            "04 system    You help.",
            "05 user      [summary] Stars were named.",
            "06 user      And now?",
            "07 assistant Deneb.",
        ]
    )
    assert live(*records) == "\n".join(
        [
            "00 system    You help.",
            "01 user      [summary] Stars were named.",
            "02 user      And now?",
            "03 assistant Deneb.",
        ]
    )
    (folded,) = (each for each in telling(*records) if isinstance(each, CompactionEvent))
    assert (folded.id, folded.at) == ("k1/fold", AT + 5000)
    assert (folded.tokens_before, folded.tokens_after) == (90, 9)


def test_without_the_other_file_the_screen_is_the_session() -> None:
    records = [each for each in compacted(keeps=True) if "chat_history" not in each.file]
    assert GROK.recognize(records[1:]) is not None
    assert live(*records) == live(*compacted(keeps=True))


def test_what_was_taken_back_is_told_from_the_screen_and_no_model_sees_it() -> None:
    chat = items(SYSTEM, user("Go", 0), model("Yes."), user("West", 1), model("Gone west."))
    screen = (
        asked(1, "Go", 0),
        answered(2, "Yes."),
        asked(3, "East", 1),
        answered(4, "Gone east."),
        shown(5, "rewind_marker", target_prompt_index=1),
        asked(6, "West", 1),
        answered(7, "Gone west."),
    )
    assert whole(*chat, *screen) == "\n".join(
        [
            "00 system    You help.",
            "01 user      Go",
            "02 assistant Yes.",
            "03 user      East",
            "04 assistant Gone east.",
            "05 user      West",
            "06 assistant Gone west.",
        ]
    )
    assert "east" not in live(*chat, *screen).lower()
    (back,) = (each for each in telling(*chat, *screen) if isinstance(each, RewindEvent))
    assert (len(back.shows), back.at) == (3, AT + 5000)


def test_prompts_without_a_number_count_until_the_first_that_has_one() -> None:
    screen = (
        asked(1, "Go", None),
        answered(2, "Yes."),
        asked(3, "On", 1),
        answered(4, "Well."),
        asked(5, "Note", None),
        shown(6, "rewind_marker", target_prompt_index=1),
    )
    assert live(*screen) == "00 user      Go\n01 assistant Yes."


@given(st.data())
def test_whatever_the_screen_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    back = shown(9, "rewind_marker", target_prompt_index=1)
    found = data.draw(surprised([*compacted(keeps=True), back, asked(10, "Again", 1)]))
    assert breaks(GROK, sorted(found, key=lambda record: record.file)) == []
