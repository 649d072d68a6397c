"""What newer versions of Droid write: other models' thoughts, notices, forks, what stays."""

from collections.abc import Mapping

import pytest

from holdfast.formats.droid import DROID
from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    Problem,
    StrandStarted,
)
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import Text, Thinking
from tests.formats.conformance import broken_rules


def message(own: str, role: str, **fields: object) -> dict[str, object]:
    return {"type": "message", "id": own, "message": {"role": role, **fields}}


def telling(*values: Mapping[str, object]) -> list[Event]:
    return list(DROID.read(SourceRecord(line, value) for line, value in enumerate(values, 1)))


def told(*values: Mapping[str, object]) -> list[MessageEvent]:
    return [each for each in telling(*values) if isinstance(each, MessageEvent)]


def test_an_answer_names_its_model() -> None:
    newer = message("a", "assistant", content="Io.", modelId="m-9", apiProvider="moon")
    older = message("b", "assistant", content="Io.", model="m-8")
    assert [each.native.model for each in told(newer, older)] == ["m-9", "m-8"]


def test_what_only_the_user_sees_is_no_message() -> None:
    notice = message("a", "user", content="Saved.", visibility="user_only")
    hidden = message("b", "user", content="Be brief.", visibility="llm_only")
    assert [each.key for each in told(notice, hidden)] == ["b"]


def test_a_sealed_thought_stands_beside_the_content_and_is_told_once() -> None:
    sealed = {"openaiEncryptedContent": "c2VhbA==", "openaiReasoningId": "rs_1"}
    thought = {"type": "thinking", "thinking": "Count.", "signature": ""}
    shown = {"openaiReasoningSummary": "Count.", **sealed}
    alone = message("a", "assistant", **sealed)
    both = message("b", "assistant", content=[thought, {"type": "text", "text": "Io."}], **shown)
    first, second = told(alone, both)
    assert [type(part) for part in first.message.parts] == [Thinking]
    kept, words = second.message.parts
    assert isinstance(kept, Thinking)
    assert (kept.text, kept.signature) == ("Count.", "c2VhbA==")
    assert kept.extras["responses"] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Count."}],
        "encrypted_content": "c2VhbA==",
    }
    assert words == Text("Io.")


def test_a_thought_of_a_plain_model_is_told() -> None:
    answer = message("a", "assistant", content="Io.", chatCompletionReasoningContent="Hm.")
    (only,) = told(answer)
    assert only.message.parts == (Thinking("Hm."), Text("Io."))


def test_a_message_without_content_is_a_problem() -> None:
    _, problem = telling(message("a", "assistant"))
    assert isinstance(problem, Problem)


@pytest.mark.parametrize(
    ("anchor", "shows"),
    [
        ({"anchorMessage": {"id": "b", "index": 1}, "removedCount": 2}, ("s", "c")),
        ({"anchorMessage": {"id": "b", "index": 1}, "removedCount": 1}, ("s", "b", "c")),
        ({"anchorMessage": {"id": "c", "index": 2}, "removedCount": 3}, ("s",)),
        ({"anchorMessage": {"id": "lost"}}, ("s",)),
        ({}, ("s",)),
    ],
)
def test_a_summary_spares_what_came_after_the_message_that_it_speaks_up_to(
    anchor: dict[str, object], shows: tuple[str, ...]
) -> None:
    said = [message(name, "user", content=name) for name in "abc"]
    state = {"type": "compaction_state", "id": "s", "summaryText": "Letters.", **anchor}
    (folded,) = (each for each in telling(*said, state) if isinstance(each, CompactionEvent))
    assert folded.shows == shows


def test_a_second_summary_spares_nothing_that_was_gone_before_it() -> None:
    first = {"type": "compaction_state", "id": "s", "summaryText": "Letters."}
    second = {**first, "id": "t", "anchorMessage": {"id": "a", "index": 0}}
    values = (message("a", "user", content="a"), first, message("b", "user", content="b"), second)
    folded = [each.shows for each in telling(*values) if isinstance(each, CompactionEvent)]
    assert folded == [("s",), ("t",)]


def test_a_header_names_the_session_that_this_one_forked_from() -> None:
    header = {"type": "session_start", "id": "d-2", "title": "t", "parent": "d-1"}
    fork = {**header, "forkedAtMessageId": "m-4"}
    (begun,) = telling(fork)
    assert isinstance(begun, StrandStarted)
    assert (begun.about.parent, begun.about.fork) == ("d-1", Fork.BRANCH)
    assert begun.about.more == {"forkedAtMessageId": "m-4"}
    (begun,) = telling({**header, "callingSessionId": "d-0"})
    assert isinstance(begun, StrandStarted)
    assert (begun.about.parent, begun.about.fork) == ("d-0", Fork.DELEGATION)


SETTINGS = {
    "model": "m-9",
    "providerLock": "moon",
    "tokenUsage": {
        "inputTokens": 10,
        "outputTokens": 5,
        "cacheCreationTokens": 2,
        "cacheReadTokens": 30,
        "thinkingTokens": 4,
    },
}
HEADER = {"type": "session_start", "id": "d-1", "title": "t"}


def test_settings_beside_a_session_say_what_it_cost_and_its_model() -> None:
    known = About(model="m-9", usage=Usage(1, 10, 5, 30, 2))
    session = SourceRecord(1, HEADER, "sky/u-1.jsonl")
    settings = SourceRecord(1, SETTINGS, "sky/u-1.settings.json")
    other = SourceRecord(1, SETTINGS, "sky/u-2.settings.json")
    assert list(DROID.read([session, settings, other]))[1:] == [
        MetadataUpdated(strand="d-1", about=known)
    ]
    (begun,) = DROID.read([settings, session])
    assert isinstance(begun, StrandStarted)
    assert (begun.about.model, begun.about.usage) == (known.model, known.usage)


def test_files_of_one_stream_have_names_of_their_own() -> None:
    lines = (HEADER, message("a", "user", content="hi"))
    files = ("sky/u-1.jsonl", "sky/u-1 copy.jsonl")
    records = [SourceRecord(n, line, file) for file in files for n, line in enumerate(lines, 1)]
    headless = [SourceRecord(1, lines[1], "sky/u-4.jsonl")]
    events = list(DROID.read([*records, *headless]))
    assert [each.strand for each in events if isinstance(each, StrandStarted)] == [
        "d-1",
        "sky/u-1 copy.jsonl",
        "sky/u-4.jsonl",
    ]
    assert broken_rules(events) == []
    assert next(each.key for each in events if isinstance(each, MessageEvent)) == "d-1a"
