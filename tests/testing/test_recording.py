"""A model's answers, recorded once and replayed for ever."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest

from holdfast.errors import ConfigError, SummarizerUnavailable
from holdfast.ports import Summarizer
from holdfast.summary import Ask
from holdfast.testing import (
    MissingRecording,
    RecordingSummarizer,
    ReplayingSummarizer,
    ScriptedSummarizer,
    SummarizerSuite,
)

ASK = Ask(prompt="words", max_tokens=100, purpose="first", step=1, steps=1)
OTHER = replace(ASK, prompt="half a pair \ud83d")


class TestRecording(SummarizerSuite):
    def make(self) -> Summarizer:
        model = ScriptedSummarizer(["one", "two"])
        return RecordingSummarizer(model, Path(mkdtemp()) / "model.json")

    def make_failing(self) -> Summarizer | None:
        model = ScriptedSummarizer([SummarizerUnavailable("down")])
        return RecordingSummarizer(model, Path(mkdtemp()) / "model.json")


def test_what_was_recorded_is_replayed(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    model = ScriptedSummarizer(["eins", "zwei ✓"], name="m", window=8_000)
    recording = RecordingSummarizer(model, file)
    assert recording.write(ASK) == "eins"
    assert asyncio.run(recording.awrite(OTHER)) == "zwei ✓"

    replaying = ReplayingSummarizer(file)
    assert (replaying.name, replaying.window) == ("m", 8_000)
    assert [replaying.write(OTHER), replaying.write(ASK), replaying.write(ASK)] == [
        "zwei ✓",
        "eins",
        "eins",
    ]
    assert asyncio.run(replaying.awrite(ASK)) == "eins"


def test_a_recording_grows_over_several_runs_and_keeps_no_prompt(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    for ask, answer in ((ASK, "eins"), (OTHER, "zwei")):
        RecordingSummarizer(ScriptedSummarizer([answer]), file).write(ask)
    assert sorted(json.loads(file.read_text("utf-8"))["answers"].values()) == ["eins", "zwei"]
    assert "words" not in file.read_text("utf-8")


def test_a_failure_is_raised_and_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    model = ScriptedSummarizer([SummarizerUnavailable("down")])
    with pytest.raises(SummarizerUnavailable):
        RecordingSummarizer(model, file).write(ASK)
    assert not file.exists()


def test_a_prompt_that_was_never_recorded_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    RecordingSummarizer(ScriptedSummarizer(["eins"]), file).write(ASK)
    unknown = replace(ASK, prompt="other words", purpose="update")
    with pytest.raises(MissingRecording, match=r"no answer to this update prompt .*'other words'"):
        ReplayingSummarizer(file).write(unknown)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "does not exist"),
        ("{", "is not a recording"),
        ("[]", "version 1"),
        ('{"holdfast_recording": 2}', "version 1"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(
    tmp_path: Path, text: str | None, says: str
) -> None:
    file = tmp_path / "model.json"
    if text is not None:
        file.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=says):
        ReplayingSummarizer(file)
