"""What holds for every compaction, checked on the JSON that a caller sends and gets back."""

import asyncio
import copy
import json
from collections.abc import Sequence
from itertools import takewhile

import holdfast
from holdfast.compaction.plan import SYSTEM_NOTE
from holdfast.config.summary_key import installation_sign
from holdfast.engines import ChatEngine
from holdfast.redaction import redact
from holdfast.transcript import Role, Transcript, newest_user, open_calls
from holdfast.wire import DIALECTS, Body
from holdfast.wire.markers import BLANK, END, PREFIX
from holdfast.wire.provenance import recognized
from tests.promises.conversations import Messages

UNTOUCHED = ("unchanged", "abandoned")
MEDIA_NOTE = "not in the window]"
CUT_NOTE = "characters left out here"


def decoded(messages: Sequence[dict[str, object]], dialect: str = "openai") -> Transcript:
    """Return the messages as a compressor reads them, with our summaries known as ours."""
    transcript = DIALECTS[dialect].decode(Body(list(messages)))
    return recognized(transcript, installation_sign)


def wire(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def summary_of(messages: Sequence[dict[str, object]], dialect: str = "openai") -> str:
    """Return the text of the only summary; nothing if there is none."""
    found = [each.summary.text for each in decoded(messages, dialect) if each.summary]
    assert len(found) <= 1
    return found[0] if found else ""


def newest_words(transcript: Transcript) -> str:
    newest = newest_user(transcript)
    return "" if newest is None else transcript[newest].text


def assert_sound(messages: Messages, result: holdfast.Compaction) -> None:
    """Check what must hold of any outcome for messages that were valid."""
    if result.report.outcome in UNTOUCHED:
        assert result.messages == messages
        assert result.report.reason
        return
    before, after = decoded(messages), decoded(result.messages)
    assert_valid_everywhere(before, after)
    assert_newest_words_follow_the_summary(before, after)
    assert_system_gained_the_note_only(before, after)
    assert_one_clean_summary(messages, result)
    assert_tail_is_untouched(messages, result)
    running = set(open_calls(before[newest_user(before) or 0 :]))
    assert running <= set(open_calls(after))
    weights = result.report.tokens_before, result.report.tokens_after
    assert weights == (
        holdfast.estimate_tokens(messages),
        holdfast.estimate_tokens(result.messages),
    )
    assert weights[1] < weights[0]


def assert_valid_everywhere(before: Transcript, after: Transcript) -> None:
    for name, dialect in DIALECTS.items():
        if not dialect.validate(dialect.encode(before)):
            assert dialect.validate(dialect.encode(after)) == (), name


def assert_newest_words_follow_the_summary(before: Transcript, after: Transcript) -> None:
    at = newest_user(after)
    assert at is not None or newest_user(before) is None
    if at is not None:
        assert newest_words(before) in after[at].text
        assert not any(message.summary for message in after[at + 1 :])


def assert_system_gained_the_note_only(before: Transcript, after: Transcript) -> None:
    old = prompt_of(before)
    new = prompt_of(after)
    assert [text.removesuffix(SYSTEM_NOTE).rstrip() for text in new] == [
        text.removesuffix(SYSTEM_NOTE).rstrip() for text in old
    ]
    assert sum(text.count(SYSTEM_NOTE) for text in new) <= 1


def prompt_of(transcript: Transcript) -> list[str]:
    """Return the texts of the system prompt; what a host injects later is not part of it."""
    leading = takewhile(lambda message: message.role is Role.SYSTEM, transcript)
    return [message.text for message in leading]


def assert_one_clean_summary(messages: Messages, result: holdfast.Compaction) -> None:
    text = summary_of(result.messages)
    if result.report.outcome == "folded":
        assert text
    else:
        assert text == summary_of(messages)
    assert redact(text) == text
    assert PREFIX not in text
    assert open_ends(result.messages) <= open_ends(messages) + 1


def open_ends(messages: Messages) -> int:
    """Return how often a line of its own ends a summary."""
    return wire(messages).count(wire(f"{BLANK}{END}").strip('"'))


def assert_tail_is_untouched(messages: Messages, result: holdfast.Compaction) -> None:
    """Compare the tail; its first message may have taken the summary into its front."""
    tail = result.report.figures.tail
    if tail < 2:
        return
    for old, new in zip(messages[1 - tail :], result.messages[1 - tail :], strict=True):
        shortened = MEDIA_NOTE in wire(new) or CUT_NOTE in wire(new)
        assert new == old or (shortened and new["role"] == old["role"])


def both_ways(messages: Messages, compressor: ChatEngine, other: ChatEngine) -> holdfast.Compaction:
    """Compress blocking and awaiting with equal compressors; both must do the same."""
    kept = copy.deepcopy(messages)
    result = compressor.compress(messages)
    awaited = asyncio.run(other.acompress(messages))
    assert messages == kept
    assert awaited.messages == result.messages
    assert without_time(awaited.report) == without_time(result.report)
    return result


def without_time(report: holdfast.CompactionReport) -> dict[str, object]:
    return {key: value for key, value in report.as_json().items() if key != "duration_ms"}
