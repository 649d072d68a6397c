"""A counter is found by a name that can be sent to another process."""

import importlib.util
from pathlib import Path

import pytest
import splintr

from holdfast.errors import ConfigError, MissingExtra
from holdfast.providers import ExactCounter
from holdfast.tokens import Estimator
from holdfast.trajectories.compression import counter_for, tokenizer_named


def without_splintr(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec

    def hidden(name: str) -> object:
        return None if name == "splintr" else found(name)

    monkeypatch.setattr("holdfast.trajectories.compression.find_spec", hidden)
    monkeypatch.setattr("holdfast.providers.exact_counter.find_spec", hidden)


def test_the_best_that_is_installed_is_a_vocabulary() -> None:
    assert [tokenizer_named(name) for name in ("auto", "estimate", "gpt-4o", "t.json")] == [
        "o200k",
        "estimate",
        "gpt-4o",
        "t.json",
    ]


def test_without_the_extra_tokens_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    without_splintr(monkeypatch)
    assert tokenizer_named("auto") == "estimate"
    assert isinstance(counter_for("auto"), Estimator)
    for name in ("o200k", "tokenizer.json"):
        with pytest.raises(MissingExtra, match=r"holdfast\[tokens\]"):
            counter_for(name)


@pytest.mark.parametrize("name", ["auto", "o200k", "gpt-4o", "openai/gpt-5"])
def test_a_vocabulary_is_found_by_its_name_or_by_a_model(name: str) -> None:
    text = "Ran pytest -q in /work, 3 failed."
    assert counter_for(name).count(text) == ExactCounter("o200k_base").count(text)


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no exact vocabulary for 'my-own'"):
        counter_for("my-own")
    with pytest.raises(ConfigError, match=r"missing\.json is no tokenizer\.json that can be used"):
        counter_for(str(tmp_path / "missing.json"))


def test_every_vocabulary_that_is_installed_goes_by_its_own_name() -> None:
    marks = (name for name in dir(splintr) if name.endswith("_AGENT_TOKENS"))
    names = [name.removesuffix("_AGENT_TOKENS").lower() for name in marks]
    assert len(names) > 15
    assert all(counter_for(name).count("some words") > 0 for name in names)
