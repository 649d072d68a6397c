"""Every key says what is allowed, and means it."""

import pytest

from holdfast.compaction import Policy
from holdfast.config import KEYS, Flag, checked, read_text
from holdfast.config.settings import Settings, flatten
from holdfast.config.table import unknown
from holdfast.errors import ConfigError

HERE = Flag("--here")


def test_the_table_has_every_setting_and_no_other() -> None:
    assert list(KEYS) == list(flatten(Settings()))


@pytest.mark.parametrize("path", KEYS)
def test_every_default_is_allowed(path: str) -> None:
    key = KEYS[path]
    assert checked(key, key.default, HERE) == key.default


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("model.name", "gpt-6", "gpt-6"),
        ("model.context_length", "128000", 128_000),
        ("compression.threshold", "1", 1.0),
        ("compression.target_ratio", "0.8", 0.8),
        ("compression.abort_on_summary_failure", "True", True),
        ("context.tool_limits", '{"bash": 4000, "*": 9000}', {"bash": 4_000, "*": 9_000}),
        ("redaction.extra_patterns", r'["AC-\\d{8}"]', (r"AC-\d{8}",)),
    ],
)
def test_text_becomes_a_value_of_the_key(path: str, text: str, value: object) -> None:
    assert read_text(KEYS[path], text, HERE) == value


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("model.name", ""),
        ("model.provider", "hal"),
        ("model.base_url", "localhost:8080"),
        ("model.context_length", "999"),
        ("model.context_length", "1e5"),
        ("compression.threshold", "0"),
        ("compression.threshold", "1.01"),
        ("compression.threshold", "nan"),
        ("compression.threshold", "half"),
        ("compression.target_ratio", "0.09"),
        ("compression.protect_first_n", "-1"),
        ("compression.protect_last_n", "0"),
        ("compression.abort_on_summary_failure", "yes"),
        ("auxiliary.compression.timeout", "0"),
        ("context.tool_limits", "4000"),
        ("context.tool_limits", '{"bash": 99}'),
        ("context.tool_limits", '{"bash": "4k"}'),
        ("context.tool_limits", '{"bash": true}'),
        ("redaction.extra_patterns", "AC-"),
        ("redaction.extra_patterns", "[1]"),
    ],
)
def test_what_is_not_allowed_is_refused(path: str, text: str) -> None:
    with pytest.raises(ConfigError, match=r"flag --here\); allowed: "):
        read_text(KEYS[path], text, HERE)


def test_a_refusal_names_key_value_place_and_what_is_allowed() -> None:
    with pytest.raises(ConfigError) as caught:
        checked(KEYS["compression.threshold"], 1.7, HERE)
    assert str(caught.value) == (
        "compression.threshold is 1.7 (flag --here); allowed: a number over 0 and up to 1"
    )


@pytest.mark.parametrize("value", [True, "3", 2.5, [3], None])
def test_a_whole_number_is_nothing_else(value: object) -> None:
    with pytest.raises(ConfigError):
        checked(KEYS["compression.protect_first_n"], value, HERE)


def test_what_the_table_allows_the_policy_takes() -> None:
    for threshold, ratio in ((0.0001, 0.10), (1, 0.80)):
        for path, value in (
            ("compression.threshold", threshold),
            ("compression.target_ratio", ratio),
        ):
            checked(KEYS[path], value, HERE)
        Policy(context_length=1_000, threshold=threshold, target_ratio=ratio)


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("compression.thresholdx", "compression.threshold"),
        ("compressionx.threshold", "compression.threshold"),
        ("threshold", "compression.threshold"),
        ("model.timeout", "auxiliary.compression.timeout"),
    ],
)
def test_an_unknown_key_gets_the_nearest_name(path: str, nearest: str) -> None:
    assert str(unknown(path, HERE)) == (
        f"there is no setting {path} (flag --here); did you mean {nearest}?"
    )


@pytest.mark.parametrize("name", ["model", "provider", "base_url", "context_length", "timeout"])
def test_a_key_of_the_first_design_gets_its_name_of_today(name: str) -> None:
    assert f"auxiliary.compression.{name}" in KEYS
    assert str(unknown(f"compression.summary_{name}", HERE)) == (
        f"compression.summary_{name} (flag --here) is now called auxiliary.compression.{name}; "
        "rename it"
    )


def test_a_key_that_is_near_nothing_gets_the_list() -> None:
    assert "known keys: model.name, model.provider" in str(unknown("zzz", HERE))


@pytest.mark.parametrize(
    ("upstreams", "is_allowed"),
    [
        (["https://api.example/v1"], True),
        (["anthropic=https://api.example", "openai/glm-*=http://127.0.0.1:8080/v1"], True),
        (["api.example"], False),
        (["mistral=https://api.example"], False),
        (["openai=https://"], False),
        (["openai/=https://api.example"], False),
    ],
)
def test_an_upstream_is_an_address_with_a_dialect_and_a_pattern_before_it(
    upstreams: list[str], is_allowed: bool
) -> None:
    assert KEYS["gateway.upstreams"].holds(tuple(upstreams)) is is_allowed
