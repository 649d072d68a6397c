"""`holdfast doctor`: what is in place, what is not, and never a credential."""

import json
from pathlib import Path

from tests.cli.running import run

MODEL = {"HOLDFAST_AUXILIARY_COMPRESSION_MODEL": "claude-next"}


def states(env: dict[str, str]) -> dict[str, str]:
    ended = run("doctor", "--json", env=env)
    found = json.loads(ended.output)
    assert (ended.code == 0) == found["healthy"]
    return {each["name"]: each["state"] for each in found["checks"]}


def test_a_fresh_installation_is_healthy() -> None:
    found = states({})
    assert set(found.values()) == {"ok"}
    assert list(found)[:5] == ["python", "home", "configuration", "window", "summary model"]


def test_a_broken_configuration_fails_and_the_other_checks_go_on(home: Path) -> None:
    (home / "config.yaml").write_text("compression: {thresholdx: 1}", "utf-8")
    ended = run("doctor")
    assert ended.code == 1
    assert "did you mean compression.threshold?" in ended.text
    assert "extra openai" in ended.text


def test_a_summary_model_needs_a_credential() -> None:
    assert states(MODEL)["credential"] == "fail"
    assert states({**MODEL, "ANTHROPIC_API_KEY": "k"})["credential"] == "ok"
    assert states({**MODEL, "OPENAI_API_KEY": "k"})["credential"] == "fail"


def test_a_server_of_one_s_own_gets_no_credential() -> None:
    address = {"HOLDFAST_AUXILIARY_COMPRESSION_BASE_URL": "http://me:secret@127.0.0.1:1/v1"}
    ended = run("doctor", env={**MODEL, **address})
    assert "none is sent to 127.0.0.1:1" in ended.text
    assert "secret" not in ended.text


def test_a_credential_is_never_shown() -> None:
    ended = run("doctor", env={**MODEL, "ANTHROPIC_API_KEY": "sk-very-secret"})
    assert "ANTHROPIC_API_KEY is set" in ended.text
    assert "sk-very-secret" not in ended.text


def test_a_model_without_a_window_is_a_warning_with_advice() -> None:
    ended = run("doctor", env={"HOLDFAST_MODEL_NAME": "tiny"})
    assert ended.code == 0
    assert "set model.context_length to the window of tiny" in ended.text


def test_a_home_that_is_a_file_fails(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", "utf-8")
    assert states({"HOLDFAST_HOME": str(file)})["home"] == "fail"


def test_a_home_that_cannot_be_looked_into_fails_and_the_other_checks_go_on() -> None:
    ended = run("doctor", env={"HOLDFAST_HOME": "/" + "x" * 5_000})
    assert ended.code == 1
    assert "cannot be looked into: file name too long" in ended.text
    assert "extra openai" in ended.text


def test_a_summary_model_with_a_window_under_the_threshold_is_a_warning() -> None:
    variable = "HOLDFAST_AUXILIARY_COMPRESSION_CONTEXT_LENGTH"
    model = {**MODEL, "ANTHROPIC_API_KEY": "k"}
    assert states({**model, variable: "8000"})["summary model"] == "warn"
    assert states({**model, variable: "150000"})["summary model"] == "ok"
    assert (
        "is under the threshold of 100,000" in run("doctor", env={**model, variable: "8000"}).text
    )
