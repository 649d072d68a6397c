"""What Qwen's model sees: after going back, after compressing, and in a sub-agent that inherits."""

from collections.abc import Iterator

from holdfast.formats.events import CompactionEvent, MessageEvent, Problem, RewindEvent
from holdfast.formats.qwen import QWEN
from holdfast.formats.reading import documents_from_events
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import shape


def record(own: str, parent: str | None, kind: str, **fields: object) -> dict[str, object]:
    common = {"uuid": own, "parentUuid": parent, "sessionId": "q-7", "type": kind}
    return {**common, "timestamp": "2026-03-04T05:06:01.000Z", **fields}


def said(own: str, parent: str | None, text: str, **fields: object) -> dict[str, object]:
    message = {"role": "user", "parts": [{"text": text}]}
    return record(own, parent, "user", message=message, **fields)


def answered(own: str, parent: str, text: str, **fields: object) -> dict[str, object]:
    message = {"role": "model", "parts": [{"text": text}]}
    return record(own, parent, "assistant", message=message, **fields)


def system(own: str, parent: str | None, subtype: str, payload: object) -> dict[str, object]:
    return record(own, parent, "system", subtype=subtype, systemPayload=payload)


def numbered(*values: dict[str, object]) -> Iterator[SourceRecord]:
    return (SourceRecord(line, value) for line, value in enumerate(values, 1))


def live(*values: dict[str, object]) -> str:
    (document,) = documents_from_events(QWEN.format, QWEN.read(numbered(*values)))
    return shape(document.live, 60)


def content(role: str, *texts: str) -> dict[str, object]:
    return {"role": role, "parts": [{"text": text} for text in texts]}


ASKED = (said("a", None, "Name a star"), answered("b", "a", "Vega."))


def test_going_back_to_the_first_prompt_leaves_nothing() -> None:
    back = system("c", None, "rewind", {"truncatedCount": 2})
    assert live(*ASKED, back, said("d", "c", "Name a comet")) == "00 user      Name a comet"


def test_going_back_to_what_the_file_has_lost_leaves_nothing() -> None:
    back = system("c", "lost", "rewind", {"truncatedCount": 2})
    assert live(*ASKED, back, said("d", "c", "Name a comet")) == "00 user      Name a comet"


def test_a_message_whose_parent_is_lost_goes_on_from_the_last_one() -> None:
    events = list(QWEN.read(numbered(*ASKED, said("d", "lost", "And a comet"))))
    assert not [each for each in events if isinstance(each, RewindEvent)]


def test_thoughts_that_the_total_counts_among_the_rest_are_counted_once() -> None:
    sent = {"promptTokenCount": 10, "candidatesTokenCount": 6, "thoughtsTokenCount": 4}
    among = answered("b", "a", "Vega.", usageMetadata={**sent, "totalTokenCount": 16})
    apart = answered("b", "a", "Vega.", usageMetadata={**sent, "totalTokenCount": 20})
    paid = [
        each.native.usage
        for answer in (among, apart)
        for each in QWEN.read(numbered(ASKED[0], answer))
        if isinstance(each, MessageEvent) and each.native.usage
    ]
    assert paid == [Usage(1, 10, 6), Usage(1, 10, 10)]


def test_an_answer_without_a_message_is_no_problem() -> None:
    silent = record("b", "a", "assistant", usageMetadata={"totalTokenCount": 3})
    events = list(QWEN.read(numbered(ASKED[0], silent)))
    assert not [each for each in events if isinstance(each, Problem)]


def test_a_history_that_differs_in_blanks_and_reminders_is_known_again() -> None:
    history = [
        content("user", "Stars were named."),
        content("model", "I see."),
        content("user", "<system-reminder>\nBe brief.\n</system-reminder>", "And another"),
        content("model", "Deneb.\n"),
    ]
    fold = system("e", "d", "chat_compression", {"compressedHistory": history})
    later = (said("c", "b", "And another"), answered("d", "c", "Deneb."))
    events = list(QWEN.read(numbered(*ASKED, *later, fold)))
    (folded,) = (each for each in events if isinstance(each, CompactionEvent))
    assert folded.shows == ("#5", "#5.1", "c", "d")


def test_a_fast_compression_clears_results_and_has_no_summary() -> None:
    history = [content("user", "You are at home."), content("user", "Name a star")]
    payload = {"compressedHistory": history, "info": {"triggerReason": "manual"}}
    folded = live(*ASKED, system("c", "b", "chat_compression", payload))
    assert folded == "00 user      You are at home.\n01 user      Name a star"


def test_a_compression_says_what_set_it_off() -> None:
    triggers = []
    for reason in ("manual", "token_limit", "image_overflow", "moon"):
        history = [content("user", "Stars were named.")]
        payload = {"compressedHistory": history, "info": {"triggerReason": reason}}
        events = QWEN.read(numbered(*ASKED, system("c", "b", "chat_compression", payload)))
        triggers += [each.trigger for each in events if isinstance(each, CompactionEvent)]
    assert triggers == ["manual", "auto", "auto", ""]


def test_what_was_spoken_aloud_is_told_and_no_model_sees_it() -> None:
    aloud = said("c", "b", "Can you hear me?", subtype="realtime_message")
    lines = (*ASKED, aloud, said("d", "c", "Name a comet"))
    told = [each for each in QWEN.read(numbered(*lines)) if isinstance(each, MessageEvent)]
    assert [each.key for each in told] == ["a", "b", "c", "d"]
    assert "hear" not in live(*lines)
    assert live(*lines).endswith("02 user      Name a comet")


def test_a_command_that_the_program_answered_is_told_and_no_model_sees_it() -> None:
    shown = [{"type": "assistant", "text": "0.30.0"}]
    payload = {"phase": "result", "rawCommand": "/about", "outputHistoryItems": shown}
    asked = said("c", "b", "/about")
    after = said("e", "d", "Name a comet")
    answer = system("d", "c", "slash_command", payload)
    assert "/about" not in live(*ASKED, asked, answer, after)
    for other in ({"sentToModel": True}, {"rawCommand": "/help"}, {"outputHistoryItems": []}):
        kept = system("d", "c", "slash_command", {**payload, **other})
        assert "/about" in live(*ASKED, asked, kept, after)


def test_a_sub_agent_begins_with_what_it_inherits() -> None:
    child = {"agentId": "fork-1", "isSidechain": True}
    payload = {
        "kind": "fork",
        "systemInstruction": {"parts": [{"text": "You look up."}]},
        "history": [content("user", "Name a star"), content("model", "Vega.")],
    }
    start = {**system("a", None, "agent_bootstrap", payload), **child}
    task = said("b", "a", "Count them", **child)
    assert live(start, task) == "\n".join(
        [
            "00 system    You look up.",
            "01 user      Name a star",
            "02 assistant Vega.",
            "03 user      Count them",
        ]
    )
    again = {**system("c", "b", "agent_bootstrap", payload), **child}
    assert live(start, task, again) == live(start, task)


def test_a_history_that_a_sub_agent_cannot_inherit_is_a_problem() -> None:
    payload = {"history": [content("pilot", "up"), content("user", "Name a star")]}
    start = system("a", None, "agent_bootstrap", payload)
    _, problem, told = QWEN.read(numbered(start))
    assert isinstance(problem, Problem)
    assert isinstance(told, MessageEvent)


def test_what_a_managed_session_keeps_elsewhere_is_reported() -> None:
    header = record("a", None, "system", subtype="managed_session_header_v1", managedSession={})
    assert QWEN.recognize(list(numbered(header))) is not None
    (problem,) = (each for each in QWEN.read(numbered(header)) if isinstance(each, Problem))
    assert (problem.line, "other files" in problem.reason) == (1, True)
