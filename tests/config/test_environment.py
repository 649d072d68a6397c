"""Environment variables are settings too, and a misspelled one is no silent nothing."""

import pytest

from holdfast.config import Environment, Setting
from holdfast.config.loading import read_environment
from holdfast.errors import ConfigError


def test_variables_are_settings() -> None:
    found = read_environment(
        {"HOLDFAST_MODEL_NAME": "gpt-6", "HOLDFAST_COMPRESSION_PROTECT_LAST_N": "5", "PATH": "x"}
    )
    assert found == (
        Setting(
            "compression.protect_last_n", 5, Environment("HOLDFAST_COMPRESSION_PROTECT_LAST_N")
        ),
        Setting("model.name", "gpt-6", Environment("HOLDFAST_MODEL_NAME")),
    )


def test_other_variables_of_ours_and_empty_ones_set_nothing() -> None:
    assert (
        read_environment({"HOLDFAST_HOME": "/x", "HOLDFAST_DEBUG": "1", "HOLDFAST_MODEL_NAME": " "})
        == ()
    )


def test_a_value_that_is_not_allowed_names_its_variable() -> None:
    with pytest.raises(ConfigError) as caught:
        read_environment({"HOLDFAST_COMPRESSION_THRESHOLD": "high"})
    assert str(caught.value) == (
        'compression.threshold is "high" (environment variable HOLDFAST_COMPRESSION_THRESHOLD); '
        "allowed: a number over 0 and up to 1"
    )


@pytest.mark.parametrize(
    "variable", ["HOLDFAST_COMPRESSION_TRESHOLD", "HOLDFAST_COMPRESION_THRESHOLD"]
)
def test_a_misspelled_variable_gets_the_nearest_name(variable: str) -> None:
    with pytest.raises(ConfigError, match=r"did you mean HOLDFAST_COMPRESSION_THRESHOLD\?"):
        read_environment({variable: "0.5"})


def test_a_variable_of_the_first_design_gets_its_name_of_today() -> None:
    with pytest.raises(ConfigError, match="is now called HOLDFAST_AUXILIARY_COMPRESSION_MODEL"):
        read_environment({"HOLDFAST_COMPRESSION_SUMMARY_MODEL": "gpt-5-mini"})


def test_no_variable_with_our_prefix_is_read_and_ignored() -> None:
    with pytest.raises(ConfigError, match="no setting behind the environment variable HOLDFAST_X"):
        read_environment({"HOLDFAST_X": "1"})
    assert read_environment({"HOLDFAST_SHARED": "/x", "HOLDFAST_X": "", "_HOLDFAST_X": "1"}) == ()
