"""`holdfast sample`: what `make sample` shows, the same everywhere."""

import json
import subprocess
import sys

import pytest

from holdfast.cli.sample import sample_session
from holdfast.transcript import check
from tests.cli.running import run


def test_the_session_is_long_and_valid() -> None:
    session = sample_session()
    assert len(session) > 150
    assert check(session) == ()


@pytest.mark.parametrize("columns", [80, 200])
def test_before_after_record_and_audit_are_shown(columns: int) -> None:
    ended = run("sample", env={"COLUMNS": str(columns)})
    assert ended.code == 0
    for words in ("before: ", "after: ", "the record", "Key Decisions", "audit", "word for word"):
        assert words in ended.text
    assert max(map(len, ended.text.splitlines())) <= columns + 20
    assert "\x1b" not in ended.text


def test_the_whole_record_can_be_shown() -> None:
    assert len(run("sample", "--full").text) > 2 * len(run("sample").text)


def test_settings_do_not_change_the_sample() -> None:
    assert run("sample", env={"HOLDFAST_MODEL_CONTEXT_LENGTH": "5"}).text == run("sample").text


def test_json_is_the_report() -> None:
    report = json.loads(run("sample", "--json").output)
    assert report["outcome"] == "folded"
    assert report["tokens_after"] < report["tokens_before"] / 2


def test_the_module_runs_without_a_terminal() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast.cli.sample"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"before: ")
