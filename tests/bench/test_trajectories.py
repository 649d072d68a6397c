import asyncio
import json
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from bench.peers import hermes_trajectories_work as hermes_work
from bench.peers.trajectories import HUGGINGFACE, SPLINTR, Beside, peer_bars, peer_table
from bench.sharegpt import trajectories, trajectory, varied
from bench.trajectories import memory, rates, written
from bench.trajectory_runs import SUMMARY, Figures, Options, fastest, measured
from holdfast.providers.exact_counter import ExactCounter

TOKENS = 18_000
"""A little more than what trajectories are brought down to."""
SOME = Figures(
    trajectories=200, tokens=8_000_000, seconds=1.0, processor=2.0, peak=1, worker_peak=1
)


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = trajectories(3, ExactCounter("o200k").count, TOKENS)
    return written(tmp_path_factory.mktemp("trajectories") / "three.jsonl", lines)


def test_a_trajectory_has_turns_of_everybody_and_the_weight_that_is_wanted() -> None:
    turns = trajectory(5, words, 3_000)
    assert [turn["from"] for turn in turns[:4]] == ["system", "human", "gpt", "tool"]
    assert turns[-1]["from"] == "gpt"
    assert sum(words(str(turn["value"])) for turn in turns) >= 3_000
    assert turns == trajectory(5, words, 3_000)
    assert turns != trajectory(6, words, 3_000)


def test_results_stand_in_one_turn_behind_the_calls_that_they_answer() -> None:
    turns = trajectory(5, words, 3_000)
    for turn, following in pairwise(turns):
        calls = str(turn["value"]).count("<tool_call>")
        answers = str(following["value"]).count("<tool_response>")
        if following["from"] == "tool" or (turn["from"] == "gpt" and calls):
            assert (turn["from"], following["from"], calls) == ("gpt", "tool", answers)


def test_lines_are_repeated_with_other_digits_until_there_are_enough() -> None:
    lines = list(trajectories(2, words, 500))
    found = list(varied(lines, 5 * len(lines[0]) + 1))
    assert sum(map(len, found)) >= 5 * len(lines[0]) + 1 > sum(map(len, found[:-1]))
    assert len(set(found)) == len(found) > len(lines)
    speakers = [[turn["from"] for turn in json.loads(line)["conversations"]] for line in lines]
    for number, line in enumerate(found):
        turns = json.loads(line)["conversations"]
        assert [turn["from"] for turn in turns] == speakers[number % 2]


def test_a_run_says_what_it_did_and_what_it_took(path: Path) -> None:
    here = measured(path, Options(jobs=1, clocked=True))
    there = measured(path, Options(jobs=2, asks=True, redact=False))
    assert (here.trajectories, here.worker_peak) == (3, 0)
    assert (there.trajectories, there.counting) == (3, 0.0)
    assert here.tokens >= 3 * TOKENS
    assert 0 < here.counting < here.seconds
    for figures in (here, there):
        assert figures.seconds > 0
        assert figures.processor > 0
    if Path("/proc/self/status").exists():
        assert min(here.peak, there.peak, there.worker_peak) > 10_000_000


def test_the_fastest_of_several_runs_counts(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    times = iter([3.0, 5.0, 2.0, 6.0])
    taken: list[int] = []

    def run(_path: Path, options: Options) -> Figures:
        taken.append(options.jobs)
        return replace(SOME, seconds=next(times))

    monkeypatch.setattr("bench.trajectory_runs.measured", run)
    found = fastest(path, {"one": Options(jobs=1), "two": Options(jobs=2)}, rounds=2)
    assert {name: figures.seconds for name, figures in found.items()} == {"one": 2.0, "two": 5.0}
    assert taken == [1, 2, 1, 2]


def test_rates_are_given_for_one_process_and_for_every_core(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    def run(_path: Path, options: Options) -> Figures:
        return replace(SOME, seconds=2.0 / options.jobs, counting=0.5)

    monkeypatch.setattr("bench.trajectory_runs.measured", run)
    monkeypatch.setattr("bench.trajectories.jobs_for", lambda _: 4)
    assert rates(path, rounds=1).rows[:4] == (
        ("deterministic", 1, 100.0, "4.0 M", 100.0, "25%"),
        ("deterministic", 4, 400.0, "16.0 M", 100.0, ""),
        ("model answers at once", 1, 100.0, "4.0 M", 100.0, "25%"),
        ("model answers at once", 4, 400.0, "16.0 M", 100.0, ""),
    )


@pytest.mark.parametrize(
    ("peaks", "kept"),
    [((100, 110), [True, True]), ((100, 290), [True, False]), ((290, 310), [False, True])],
)
def test_memory_is_bounded_and_does_not_grow_with_the_input(
    peaks: tuple[int, int], kept: list[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    most = {"1.jsonl": peaks[0] * 1_000_000, "2.jsonl": peaks[1] * 1_000_000}

    def run(path: Path, _options: Options) -> Figures:
        return replace(SOME, worker_peak=most[path.name])

    monkeypatch.setattr("bench.trajectories.measured", run)
    lines = list(trajectories(1, words, 500))
    table, bars = memory(tmp_path, lines, (1, 2))
    assert [bar.kept for bar in bars] == kept
    assert [row[0] for row in table.rows] == [
        "1 MB, deterministic",
        "1 MB, model answers at once",
        "2 MB, model answers at once",
    ]


def test_the_promise_beside_hermes_is_about_a_huggingface_tokenizer() -> None:
    slow, fast = replace(SOME, seconds=10.0), replace(SOME, seconds=0.5)
    found = [Beside(HUGGINGFACE, slow, SOME, fast), Beside(SPLINTR, SOME, slow, SOME)]
    assert [(bar.measured, bar.kept) for bar in peer_bars(found)] == [("10.0x", True)]
    late = [Beside(HUGGINGFACE, replace(slow, seconds=9.9), SOME, fast)]
    assert [bar.kept for bar in peer_bars(late)] == [False]
    factors = [row[3] for row in peer_table(found, 29_000_000).rows]
    assert factors == ["10.0x", "20.0x", "0.1x", "1.0x"]


def test_hermes_works_on_a_folder_with_our_tokenizer_and_our_summary(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Compressor:
        """Counts and asks in the way of Hermes'."""

        def __init__(self, _config: object) -> None:
            self.aggregate_metrics = SimpleNamespace(
                trajectories_compressed=0, total_tokens_before=0
            )
            self._init_tokenizer()
            self._init_summarizer()

        def process_directory(self, inside: Path, _outside: Path) -> None:
            for file in inside.glob("*.jsonl"):
                client: Any = self._get_async_client()
                answer = asyncio.run(client.chat.completions.create(model="any"))
                assert answer.choices[0].message.content == SUMMARY
                tokens = len(self.tokenizer.encode(file.read_text("utf-8")))
                self.aggregate_metrics.trajectories_compressed += 1
                self.aggregate_metrics.total_tokens_before += tokens

        tokenizer: Any
        _init_tokenizer: Any
        _init_summarizer: Any
        _get_async_client: Any

    module = ModuleType("trajectory_compressor")
    monkeypatch.setattr(module, "TrajectoryCompressor", Compressor, raising=False)
    monkeypatch.setattr(module, "CompressionConfig", object, raising=False)
    monkeypatch.setitem(sys.modules, "trajectory_compressor", module)
    monkeypatch.setitem(sys.modules, "agent.auxiliary_client", ModuleType("agent.auxiliary_client"))
    source = tmp_path / "a.jsonl"
    source.write_text("one two three", "utf-8")
    found = hermes_work.compress(source, SUMMARY, lambda: str.split)
    assert (found["trajectories"], found["tokens"]) == (1, 3)
    assert found["seconds"] >= found["counting"] > 0
