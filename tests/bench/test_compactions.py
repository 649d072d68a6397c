from typing import Any

import pytest

import holdfast
from bench.compactions import BEFORE, SEEDS, Run, bar, drive
from bench.transcripts import Chat, transcript


class Newest(holdfast.ContextEngine):
    """Is due at 60 tokens, and keeps so many of the newest messages."""

    def __init__(self, kept: int) -> None:
        self.kept = kept

    @property
    def name(self) -> str:
        return "newest"

    def update_from_response(self, usage: dict[str, Any]) -> None:
        raise NotImplementedError

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return (prompt_tokens or 0) >= 60

    def compress(
        self,
        messages: list[dict[str, Any]],
        current_tokens: int | None = None,
        focus_topic: str | None = None,
    ) -> list[dict[str, Any]]:
        del current_tokens, focus_topic
        return messages[-self.kept :]


def chat(turns: int) -> list[Chat]:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked: Chat = {"role": "assistant", "content": "", "tool_calls": [call]}
    answer: Chat = {"role": "tool", "tool_call_id": "c", "content": "the lamp is lit"}
    return [{"role": "user", "content": "look"}, *[asked, answer] * turns, asked]


def test_an_engine_compacts_whenever_it_is_due_before_the_model_is_asked() -> None:
    found = drive(Newest(kept=1), chat(20), calls=20)
    assert len(found.results) == 20
    assert len(found.after) > 1
    assert min(found.before) >= 60 > max(found.after)


def test_a_window_that_stays_as_it_was_is_no_compaction() -> None:
    assert drive(Newest(kept=100), chat(20), calls=20).after == ()


def test_a_session_with_too_few_calls_is_refused() -> None:
    with pytest.raises(ValueError, match="has 5 calls, and 6 are wanted"):
        drive(Newest(kept=1), chat(5), calls=6)


def test_the_promise_is_a_third_less_than_the_version_before() -> None:
    traffic = "short results"
    most = BEFORE[traffic] * 2 // (3 * len(SEEDS))
    kept, missed = (Run((9,) * count, (3,) * count, ()) for count in (most, most + 1))
    assert bar(traffic, [kept]).kept
    assert not bar(traffic, [missed]).kept


def test_less_verbose_sessions_say_the_same_kind_of_things_with_shorter_results() -> None:
    short, long = (transcript(200, seed=3, verbosity=each) for each in (0.25, 1.0))
    lengths = [sum(len(str(each["content"])) for each in chat) for chat in (short, long)]
    assert 2 * lengths[0] < lengths[1]
    assert transcript(200, seed=3) == long
