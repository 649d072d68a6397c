"""What Kimi's journals say late, elsewhere, or in another version's words."""

from collections.abc import Mapping

import pytest

from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.kimi import KIMI
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork
from holdfast.transcript import Media, Text


def message(text: str, origin: object = None, **fields: object) -> dict[str, object]:
    content = [{"type": "text", "text": text}]
    said = {"role": "user", "content": content, "origin": origin or {"kind": "user"}, **fields}
    return {"type": "context.append_message", "message": said}


def loop(kind: str, **fields: object) -> dict[str, object]:
    return {"type": "context.append_loop_event", "event": {"type": kind, **fields}}


def call(name: str) -> dict[str, object]:
    return loop("tool.call", stepUuid="s1", toolCallId=name, name="Bash", args={})


def result(name: str, **fields: object) -> dict[str, object]:
    return loop("tool.result", toolCallId=name, result={"output": "done", **fields})


def told(*values: Mapping[str, object], file: str = "") -> list[Event]:
    return list(KIMI.read(SourceRecord(line, value, file) for line, value in enumerate(values, 1)))


def lines(events: list[Event]) -> list[int]:
    return [each.line for each in events if isinstance(each, MessageEvent)]


BEGIN = loop("step.begin", uuid="s1")


def test_what_is_said_while_tools_run_comes_after_their_results() -> None:
    steer = message("Faster")
    values = (message("Go"), BEGIN, call("c1"), call("c2"), steer, result("c2"), result("c1"))
    assert lines(told(*values)) == [1, 3, 4, 6, 7, 5]


def test_what_waits_for_a_result_that_never_comes_is_told_before_the_next_step() -> None:
    again = loop("step.begin", uuid="s2")
    words = loop("content.part", stepUuid="s2", part={"type": "text", "text": "Yes."})
    values = (message("Go"), BEGIN, call("c1"), message("Well?"), again, words)
    assert lines(told(*values)) == [1, 3, 4, 6]


@pytest.mark.parametrize("last", [{"type": "context.clear"}, {"type": "turn.cancel"}])
def test_what_still_waits_is_told_when_everything_ends(last: dict[str, object]) -> None:
    assert lines(told(message("Go"), BEGIN, call("c1"), message("Well?"), last)) == [1, 3, 4]


def test_a_tools_note_to_the_model_is_part_of_its_result() -> None:
    (*_, last) = told(BEGIN, call("c1"), result("c1", note="2 lines."))
    assert isinstance(last, MessageEvent)
    assert last.message.results[0].content == (Text("done"), Text("2 lines."))
    content = {"role": "tool", "toolCallId": "c1", "content": "done", "note": "2 lines."}
    (*_, last) = told({"type": "context.append_message", "message": content})
    assert isinstance(last, MessageEvent)
    assert last.message.results[0].content == (Text("done"), Text("2 lines."))


def test_a_picture_that_is_kept_elsewhere_has_its_type_and_is_reported() -> None:
    url = "blobref:image/png;0123abcd"
    part = {"type": "image_url", "imageUrl": {"url": url}}
    shown = {"role": "user", "content": [part]}
    _, picture, problem = told({"type": "context.append_message", "message": shown})
    assert isinstance(picture, MessageEvent)
    assert picture.message.parts == (Media(media_type="image/png", url=url),)
    assert problem == Problem(1, "a picture is kept in a file of its own, which is not read")
    results = told(
        BEGIN, call("c1"), loop("tool.result", toolCallId="c1", result={"output": [part]})
    )
    assert isinstance(results[-1], Problem)


@pytest.mark.parametrize(
    "fields",
    [
        {"summary": "It went well.", "contextSummary": "Before: it went well."},
        {"contextSummary": "It went well."},
        {"summary": {"role": "user", "content": [{"type": "text", "text": "It went well."}]}},
    ],
)
def test_a_summary_may_be_words_or_a_message(fields: dict[str, object]) -> None:
    fold = {"type": "context.apply_compaction", "count": 1, **fields}
    events = told(message("Go"), message("On"), fold)
    summary, folded = events[-2:]
    assert isinstance(summary, MessageEvent)
    assert summary.message.summary is not None
    assert summary.message.summary.text == "It went well."
    assert isinstance(folded, CompactionEvent)
    assert folded.shows == ("#3", "#2")


def test_a_compaction_that_says_so_keeps_what_came_last_and_not_the_prompts() -> None:
    fold = {"type": "context.apply_compaction", "summary": "s", "compactedCount": 2}
    kept = {**fold, "keptUserMessageCount": 2}
    shown = [
        each.shows
        for value in (kept, {**kept, "legacyTail": True})
        for each in told(message("a"), message("b"), message("c"), value)
        if isinstance(each, CompactionEvent)
    ]
    assert shown == [("#2", "#3", "#4"), ("#4", "#3")]


def test_an_undo_takes_the_notes_before_a_prompt_and_counts_no_skill_of_the_model() -> None:
    skill = {"kind": "skill_activation", "trigger": "model-tool"}
    note = {"kind": "injection", "variant": "plan", "ownerPromptId": "p2"}
    values = (
        message("Go", id="p1"),
        message("Hurry", note),
        message("On", id="p2"),
        message("Skill", skill),
        {"type": "context.undo", "count": 1},
    )
    (back,) = (each for each in told(*values) if isinstance(each, RewindEvent))
    assert back.shows == ("#1",)
    typed = {"kind": "skill_activation", "trigger": "user-slash"}
    values = (*values[:3], message("Skill", typed), values[4])
    (back,) = (each for each in told(*values) if isinstance(each, RewindEvent))
    assert back.shows == ("#1", "#2", "#3")


@pytest.mark.parametrize(
    ("file", "about"),
    [
        (".kimi/sessions/1f/s-1.jsonl", About(id="s-1")),
        ("1f/s-1/context_2.jsonl", About(id="s-1/context_2", parent="s-1", fork=Fork.BRANCH)),
        (
            "1f/s-1/context_sub_1.jsonl",
            About(id="s-1/context_sub_1", parent="s-1", fork=Fork.DELEGATION),
        ),
    ],
)
def test_older_files_have_their_names_and_those_laid_aside_their_session(
    file: str, about: About
) -> None:
    line = {"role": "user", "content": "hi"}
    (begun, _) = told(line, file=file)
    assert isinstance(begun, StrandStarted)
    assert begun.about == about
