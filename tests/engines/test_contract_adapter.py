"""Our engines behind the contract: the same work, seen through plain attributes and lists."""

from copy import deepcopy

import pytest

import holdfast
from holdfast import ContextEngine
from holdfast.engines.contract import ATTRIBUTES, REQUIRED, ContractAdapter, missing_names
from holdfast.testing.check_engine import SHORT, long_talk
from tests.engines.plugins import Tail

BUILT_IN = ["compressor", "truncate"]


def loaded(name: str) -> ContractAdapter:
    engine = holdfast.load_engine(name, context_length=8_000, protect_last_n=5)
    assert isinstance(engine, ContractAdapter)
    return engine


def figures(engine: ContextEngine) -> dict[str, object]:
    return {name: getattr(engine, name) for name in ATTRIBUTES}


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_attributes_are_those_of_the_policy(name: str) -> None:
    assert figures(loaded(name)) == {
        "last_prompt_tokens": 0,
        "last_completion_tokens": 0,
        "last_total_tokens": 0,
        "threshold_tokens": 6_800,
        "context_length": 8_000,
        "compression_count": 0,
        "threshold_percent": 0.85,
        "protect_first_n": 3,
        "protect_last_n": 5,
    }


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_pass_is_counted_when_it_changed_something(name: str) -> None:
    engine, talk = loaded(name), long_talk()
    smaller = engine.compress(deepcopy(talk), focus_topic="port 8099")
    assert len(smaller) < len(talk)
    assert engine.compression_count == 1
    engine.compress(deepcopy(SHORT))
    assert engine.compression_count == 1


@pytest.mark.parametrize("name", BUILT_IN)
def test_questions_are_answered_by_what_was_reported_or_estimated(name: str) -> None:
    engine = loaded(name)
    assert not engine.should_compress()
    engine.update_from_response({"prompt_tokens": 7_000, "completion_tokens": 5})
    assert engine.should_compress()
    assert engine.last_total_tokens == 7_005
    assert engine.get_status()["usage_percent"] == 87.5
    assert engine.should_compress_preflight(long_talk())
    assert not loaded(name).should_compress_preflight(SHORT)
    assert engine.has_content_to_compress(long_talk())
    assert not engine.has_content_to_compress(SHORT)
    engine.on_session_reset()
    assert not engine.should_compress()


def test_a_copy_has_learned_nothing() -> None:
    engine = loaded("compressor")
    engine.compress(long_talk())
    twin = deepcopy(engine)
    assert (type(twin), twin.name, twin.compression_count) == (ContractAdapter, "compressor", 0)
    assert twin.engine is not engine.engine


def test_an_engine_of_the_contract_has_defaults_for_all_that_may_stay() -> None:
    engine = Tail()
    assert missing_names(engine) == ()
    assert missing_names(object()) == REQUIRED
    assert not ContextEngine.should_compress_preflight(engine, [])
    assert ContextEngine.has_content_to_compress(engine, [])
    assert ContextEngine.get_tool_schemas(engine) == []
    assert ContextEngine.get_status(engine)["usage_percent"] == 0.0
    ContextEngine.on_session_start(engine, "id")
    ContextEngine.on_session_end(engine, "id", [])


def test_truncate_writes_no_summary_and_asks_nobody() -> None:
    def refuse(prompt: str) -> str:
        raise AssertionError(prompt)

    engine = holdfast.load_engine("truncate", context_length=8_000, summarizer=refuse)
    smaller = engine.compress(long_talk())
    assert engine.compression_count == 1
    known = [message["content"] for message in long_talk()]
    fresh = [each for each in smaller if each["content"] not in known]
    assert [each["role"] for each in fresh if each["role"] == "user"] == []
    assert smaller[-1] == long_talk()[-1]


@pytest.mark.parametrize("talk", [long_talk(), long_talk()[1:], [SHORT[0], *long_talk()[2:]]])
def test_truncate_keeps_a_goal_that_the_host_names(talk: list[dict[str, object]]) -> None:
    engine = holdfast.load_engine("truncate", context_length=8_000)
    engine.on_session_start("id", goal="One retry policy.")
    smaller = engine.compress(talk)
    assert smaller[0]["role"] == "system"
    assert smaller[0]["content"].endswith("The goal of this conversation: One retry policy.")
    assert engine.compress(deepcopy(smaller)) == smaller
    assert engine.compress(deepcopy(SHORT)) == SHORT
    parts = [{"role": "user", "content": [{"type": "text", "text": "One retry policy."}]}]
    assert engine.compress([*talk, *parts])[0]["content"] != smaller[0]["content"]
    engine.on_session_start("another")
    assert "retry" not in str(engine.compress(talk)[0]["content"])


@pytest.mark.parametrize("name", BUILT_IN)
def test_there_is_content_to_compress_only_between_head_and_tail(name: str) -> None:
    engine = loaded(name)
    several = [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Go on."},
    ]
    for messages in (SHORT, several, several[1:], []):
        assert engine.has_content_to_compress(messages) == (
            engine.compress(deepcopy(messages), force=True) != messages
        )
    talk = long_talk()
    assert engine.has_content_to_compress(talk)
    # The model that would write the record is not asked for an answer to that.
    asked: list[str] = []

    def write(prompt: str) -> str:
        asked.append(prompt)
        return ""

    if name == "compressor":
        # All of it is head or tail, although it is more than the prompt and one message.
        assert not engine.has_content_to_compress(several)
        assert holdfast.load_engine(
            name, context_length=8_000, summarizer=write
        ).has_content_to_compress(talk)
    assert asked == []
