"""Every promise on the real sessions of other agents; skipped where there are none."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import holdfast
from holdfast.formats import read_all
from holdfast.transcript import check
from holdfast.wire import DIALECTS
from tests.cli.running import run
from tests.promises.conversations import Messages
from tests.promises.invariants import (
    assert_newest_words_follow_the_summary,
    assert_sound,
    assert_valid_everywhere,
    both_ways,
    decoded,
)

FOLDERS = (
    "claude_code",
    "codex",
    "hermes",
    "mini_swe_agent",
    "openclaw",
    "openhands",
    "pi",
    "sharegpt",
    "swe_agent",
    "other_agents/copilot",
    "other_agents/gemini",
)
NOT_CHATS = (
    "compression_logs",
    "tui_session_log",
    "mopenhands_example",
    "few_shot",
    "reason_tool_use",
    "schema_drift",
)
WINDOWS = (8_000, 32_000, 200_000)
FITS = (300, 800, 2_000, 8_000, 30_000, 100_000)
PER_FILE = 3
LONG, BIG = 100, 400
"""Messages from which on a session is tried at a few fits, and at a single window."""
FEW_FITS = (800, 30_000, 100_000)

every_folder = pytest.mark.parametrize("folder", FOLDERS)


@cache
def sessions(folder: Path) -> tuple[tuple[str, Messages], ...]:
    """Return the valid conversations of a folder as OpenAI chat messages."""
    return tuple(_read(folder))


def _read(folder: Path) -> Iterator[tuple[str, Messages]]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if any(word in str(path) for word in NOT_CHATS):
            continue
        for number, document in enumerate(read_all(path.read_bytes())[:PER_FILE]):
            transcript = document.live
            if transcript and not check(transcript):
                body = DIALECTS["openai"].encode(transcript)
                yield f"{path.name}#{number}", body.messages


def smallest(result: holdfast.Compaction) -> int:
    """Return the smallest fit that an abandoned compaction named."""
    found = re.search(r"smallest possible fit is ([\d,]+)", result.report.reason)
    assert found, result.report.reason
    return int(found[1].replace(",", ""))


@every_folder
@pytest.mark.parametrize("window", WINDOWS)
def test_a_real_session_keeps_every_promise(shared: Path, folder: str, window: int) -> None:
    found = sessions(shared / "data/sessions" / folder)
    assert found
    for _, messages in found:
        if len(messages) >= BIG and window != WINDOWS[1]:
            continue
        made = [holdfast.Compressor(context_length=window) for _ in range(2)]
        result = both_ways(messages, *made)
        assert_sound(messages, result)


def test_a_window_that_is_still_over_its_limit_says_so(shared: Path) -> None:
    limit = holdfast.Policy(context_length=WINDOWS[0]).threshold_tokens
    silent: list[str] = []
    for folder in FOLDERS:
        for name, messages in sessions(shared / "data/sessions" / folder):
            if len(messages) >= BIG:
                continue
            report = holdfast.compress(messages, context_length=WINDOWS[0]).report
            said = " ".join((report.reason, *report.warnings))
            if report.tokens_after > limit and not said:
                silent.append(f"{name}: {report.tokens_after:,} of {limit:,}, {report.outcome}")
    assert silent == []


@every_folder
def test_a_real_session_fits_into_any_number_of_tokens(shared: Path, folder: str) -> None:
    for name, messages in sessions(shared / "data/sessions" / folder):
        for fit in FEW_FITS if len(messages) >= LONG else FITS:
            result = holdfast.compress(messages, fit=fit)
            if result.report.outcome == "abandoned":
                assert smallest(result) > fit, name
                continue
            assert holdfast.estimate_tokens(result.messages) <= fit, (name, fit)
            if result.report.outcome == "unchanged":
                # Codex itself puts its summary behind the words of its users.
                assert result.messages == messages, name
                continue
            before, after = decoded(messages), decoded(result.messages)
            assert_valid_everywhere(before, after)
            assert_newest_words_follow_the_summary(before, after)


def test_the_smallest_possible_fit_is_possible_and_the_smallest(shared: Path) -> None:
    tried = 0
    wrong: list[str] = []
    for folder in FOLDERS:
        for name, messages in sessions(shared / "data/sessions" / folder):
            refused = holdfast.compress(messages, fit=1)
            if len(messages) >= BIG or refused.report.outcome != "abandoned":
                continue
            tried += 1
            least = smallest(refused)
            result = holdfast.compress(messages, fit=least)
            tokens = holdfast.estimate_tokens(result.messages)
            if result.report.outcome == "abandoned" or tokens > least:
                wrong.append(f"{name}: {tokens:,} tokens in {least:,}, {result.report.outcome}")
            if holdfast.compress(messages, fit=least - 1).report.outcome != "abandoned":
                wrong.append(f"{name}: {least - 1:,} is possible too")
    assert tried > 20
    assert wrong == []


def test_a_fit_is_refused_only_when_prompt_and_newest_words_are_more(shared: Path) -> None:
    for folder in FOLDERS:
        for name, messages in sessions(shared / "data/sessions" / folder):
            if len(messages) >= BIG:
                continue
            result = holdfast.compress(messages, fit=800)
            if result.report.outcome == "abandoned":
                assert least_weight(messages) > 800 - 60, name


def least_weight(messages: Messages) -> int:
    """Return what the system prompt and the newest user message weigh by themselves."""
    prompt = [each for each in messages if each["role"] in ("system", "developer")]
    newest = [each for each in messages if each["role"] == "user"][-1:]
    return holdfast.estimate_tokens([*prompt, *newest])


def test_a_second_pass_with_nothing_said_since_changes_nothing(shared: Path) -> None:
    changed: list[str] = []
    for folder in FOLDERS:
        for name, messages in sessions(shared / "data/sessions" / folder):
            if len(messages) >= BIG:
                continue
            for window in WINDOWS[:2]:
                once = holdfast.compress(messages, context_length=window)
                again = holdfast.compress(once.messages, context_length=window)
                if again.messages != once.messages:
                    changed.append(f"{name} at {window:,}")
    assert changed == []


def test_compacted_trajectories_are_accepted_by_another_provider(
    shared: Path, tmp_path: Path
) -> None:
    files = sorted((shared / "data/sessions/mini_swe_agent").glob("*.json"))
    arguments = [*map(str, files), "--context-length", "8000", "--to", "anthropic"]
    ended = run("compress", *arguments, "-o", str(tmp_path))
    assert ended.code == 0, ended.errors
    written = sorted(tmp_path.iterdir())
    assert len(written) == len(files) > 0
    for file in written:
        assert run("validate", str(file), "--provider", "anthropic").code == 0, file.name
