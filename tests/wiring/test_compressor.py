"""What users of the library may hand in, and what is refused with a sentence."""

import pytest

import holdfast
from holdfast.errors import ConfigError, DecodeError
from holdfast.wiring import summarizer_of

MESSAGES: list[dict[str, object]] = [
    {"role": "user", "content": f"word {n} " * 200} for n in range(40)
]


def test_a_generator_of_messages_is_as_good_as_a_list() -> None:
    assert holdfast.compress(m for m in MESSAGES).messages == holdfast.compress(MESSAGES).messages


def test_an_exception_may_be_handed_to_recovery_as_it_is() -> None:
    compressor = holdfast.Compressor(context_length=200_000)
    compressor.recover(MESSAGES, error=ValueError("maximum context length is 8192 tokens"))
    assert compressor.policy.context_length == 8_192


def test_an_unknown_counter_is_refused() -> None:
    with pytest.raises(ConfigError, match="counter is 'bogus'"):
        holdfast.Compressor(counter="bogus")  # type: ignore[arg-type]


def test_a_summarizer_that_cannot_write_is_refused() -> None:
    with pytest.raises(ConfigError, match="summarizer is 5"):
        holdfast.compress(MESSAGES, summarizer=5)  # type: ignore[arg-type]


def test_exact_counting_follows_the_models_vocabulary() -> None:
    exact = holdfast.Compressor(model="gpt-4o", counter="exact")
    assert exact.compact(()).tokens_before == 0
    result = exact.compress(MESSAGES)
    assert result.report.tokens_before != holdfast.compress(MESSAGES).report.tokens_before


def test_a_models_name_finds_its_provider() -> None:
    names = {"claude-sonnet-4-5": "Anthropic", "anthropic/x": "Anthropic", "gpt-5": "OpenAI"}
    for name, provider in names.items():
        assert type(summarizer_of(name)).__name__ == f"{provider}Summarizer"
    for nobody in (None, "none", "deterministic"):
        assert summarizer_of(nobody) is None


def test_tool_schemas_count_beside_the_messages() -> None:
    bare = holdfast.estimate_tokens(MESSAGES)
    schemas: list[dict[str, object]] = [{"name": "read_file", "description": "Reads a file."}]
    assert holdfast.estimate_tokens(MESSAGES, tools=schemas) > bare
    assert holdfast.estimate_tokens("two words") > 0


def test_a_long_middle_reports_its_steps() -> None:
    record = "\n\n".join(f"## {name}\n- x" for name in ("Goal", "Blocked", "Key Decisions"))
    steps: list[tuple[int, int]] = []
    compressor = holdfast.Compressor(
        context_length=8_000,
        summarizer=lambda _prompt: record,
        on_ask=lambda ask: steps.append((ask.step, ask.steps)),
    )
    assert compressor.compress(MESSAGES).report.outcome == "folded"
    assert [step for step, _ in steps] == list(range(1, len(steps) + 1))
    assert len(steps) > 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"context_len": 8_000}, "did you mean context_length"),
        ({"context_window": 8_000}, "did you mean context_length"),
        ({"thresholds": 0.5}, "did you mean threshold"),
        ({"summariser": None}, "did you mean summarizer"),
        ({"max_tokens": 8_000}, "did you mean fit"),
        ({"zzz": 1}, "it takes: context_length, summarizer"),
    ],
)
def test_an_option_that_does_not_exist_names_the_nearest(given: dict[str, int], said: str) -> None:
    with pytest.raises(ConfigError, match=f"compress has no option .*; {said}"):
        holdfast.compress(MESSAGES, **given)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=f"Compressor has no option .*; {said}"):
        holdfast.Compressor(**given)  # type: ignore[arg-type]


def test_what_only_one_call_takes_is_no_option_of_another() -> None:
    with pytest.raises(ConfigError, match="compress has no option dialect; did you mean format"):
        holdfast.compress(MESSAGES, dialect="openai")  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="estimate_tokens has no option models; did you mean mod"):
        holdfast.estimate_tokens(MESSAGES, models="gpt-5")  # type: ignore[arg-type]


def test_what_is_no_list_of_messages_is_refused_with_a_sentence() -> None:
    for wrong in ("hello", {"role": "user", "content": "hi"}, None):
        with pytest.raises(DecodeError, match="expected a list of messages"):
            holdfast.compress(wrong)  # type: ignore[arg-type]
        with pytest.raises(DecodeError, match="expected a list of messages"):
            holdfast.Compressor().recover(wrong)  # type: ignore[arg-type]
    with pytest.raises(DecodeError, match="expected a list of messages"):
        holdfast.estimate_tokens({"role": "user", "content": "hi"})  # type: ignore[arg-type]


def test_a_window_is_assumed_without_a_word_where_a_fit_says_what_counts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    holdfast.compress(MESSAGES, model="nobody-knows-it", fit=8_000)
    assert caplog.records == []
    holdfast.compress(MESSAGES, model="nobody-knows-it")
    assert "nobody-knows-it is not known" in caplog.text
