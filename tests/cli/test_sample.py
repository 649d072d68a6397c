"""`holdfast sample`: what `make sample` shows, the same everywhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli.sample import brief, sample_session
from holdfast.transcript import check
from tests.cli.running import run


def test_the_session_is_long_and_valid() -> None:
    session = sample_session()
    assert len(session) > 150
    assert check(session) == ()


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_before_after_record_and_audit_are_shown(columns: int) -> None:
    ended = run("sample", env={"COLUMNS": str(columns)})
    assert ended.code == 0
    for words in ("before: ", "after: ", "the record", "audit", "word for word"):
        assert words in ended.text
    assert max(map(len, ended.text.splitlines())) <= columns
    assert "\x1b" not in ended.text


def test_the_story_is_shown_as_ask_what_was_done_and_how_it_ended() -> None:
    lines = section("Completed Actions")
    start = next(at for at, line in enumerate(lines) if line.startswith("    5. User: "))
    ask, done, more, ended = lines[start : start + 4]
    assert ask.endswith('Go on with the ledger and the webhooks."')
    assert done.startswith("       EDITED billing/ledger.py: ")
    assert more == "       ... 5 more lines"
    assert ended.startswith("       Assistant: Ledger and webhooks are on the policy, ")


def test_a_change_that_ends_an_entry_is_shown_once() -> None:
    entry = 'User: "Ship it"\nREAD a\nREAD b\nREAD c\nCOMMITTED abc123 Ship the tide table'
    shown = ["".join(part.text for part in line).strip() for line in brief(entry, 100)]
    assert shown[0] == 'User: "Ship it"'
    assert shown.count("COMMITTED abc123 Ship the tide table") == 1


def test_decisions_have_their_reasons_and_a_corrected_value_replaces_the_old_one() -> None:
    (chosen,) = [line for line in section("Key Decisions") if "full jitter" in line]
    assert "because the incident of 2025-11-03 was a thundering herd" in chosen
    assert section("Critical Context") == [
        "    Correction: the time of the finance export is 04:30 UTC."
    ]
    assert "06:00 UTC" not in run("sample", "--full").text


def test_the_window_is_shown_with_the_record_in_its_place() -> None:
    lines = run("sample").text.splitlines()
    (record,) = [line for line in lines if ", word for word" not in line and "the record, " in line]
    assert record.split()[:3] == ["5", "user", "the"]


def test_the_last_words_say_how_to_see_more() -> None:
    assert "  holdfast sample --full  " in run("sample").text
    assert "  holdfast sample --full  " not in run("sample", "--full").text


def test_the_session_can_be_had_as_a_file_for_other_commands(tmp_path: Path) -> None:
    place = tmp_path / "session.json"
    assert run("sample", "-o", str(place)).code == 0
    messages = json.loads(place.read_bytes())
    assert (len(messages), messages[0]["role"]) == (len(sample_session()), "system")
    assert run("inspect", str(place)).code == 0


def section(heading: str) -> list[str]:
    """Return what a wide screen shows below a heading of the record."""
    lines = run("sample", env={"COLUMNS": "120"}).text.splitlines()
    start = lines.index(f"  {heading}") + 1
    end = next(at for at in range(start, len(lines)) if not lines[at].startswith("    "))
    return lines[start:end]


def test_the_whole_record_can_be_shown() -> None:
    assert len(run("sample", "--full").text) > 1.5 * len(run("sample").text)


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
