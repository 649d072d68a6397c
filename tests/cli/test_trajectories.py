"""`holdfast trajectories compress`: files in, a training file out, and what is said of it."""

import gzip
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import Ended, launch, run
from tests.providers.provider import chat, error, provider
from tests.trajectories.bulk import trajectory, write_lines

SMALL = ("--target", "400", "--summary", "100", "--protect-last", "2", "--jobs", "1")
SECRET = "sk-proj-4f8Kq2ZtXw9LmN3vB7yRcE1hJ6dG0aSpTu5iOxQeVbMnWzYl"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "in.jsonl", 30)


def compress(*arguments: object) -> Ended:
    return run("trajectories", "compress", *map(str, arguments), *SMALL)


def read(path: Path) -> list[dict[str, list[dict[str, str]]]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_trajectories_come_out_in_order_with_figures_beside_them(
    source: Path, tmp_path: Path
) -> None:
    ended = compress(source, "-o", tmp_path / "out.jsonl", "--report", tmp_path / "report.html")
    assert ended.code == 0
    assert ended.text.startswith("compressed 20 of 30 trajectories")
    assert [each["id"] for each in read(tmp_path / "out.jsonl")] == [f"t{n}" for n in range(30)]
    figures = json.loads((tmp_path / "out.metrics.json").read_text())
    assert figures["summary"]["trajectories_compressed"] == 20
    assert figures["summary"]["trajectories_skipped_under_target"] == 10
    assert figures["processing"]["tokenizer"] == "o200k"
    lines = read(tmp_path / "out.metrics.jsonl")
    assert sum(line["tokens_saved"] for line in lines) == figures["tokens"]["total_saved"]  # type: ignore[misc]
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_what_is_under_the_target_is_the_same_bytes(source: Path, tmp_path: Path) -> None:
    compress(source, "-o", tmp_path / "out.jsonl")
    before, after = (path.read_bytes().splitlines() for path in (source, tmp_path / "out.jsonl"))
    same = [number for number in range(30) if before[number] == after[number]]
    assert same == [number for number in range(30) if number % 3 == 0]


def test_the_same_run_again_has_nothing_to_do(source: Path, tmp_path: Path) -> None:
    assert compress(source, "-o", tmp_path / "out.jsonl").code == 0
    again = compress(source, "-o", tmp_path / "out.jsonl")
    assert (again.code, again.output) == (3, b"")
    assert "nothing is left to do" in again.errors


def test_other_options_do_not_go_into_the_same_output(source: Path, tmp_path: Path) -> None:
    compress(source, "-o", tmp_path / "out.jsonl")
    refused = compress(source, "-o", tmp_path / "out.jsonl", "--to", "openai")
    assert refused.code == 1
    assert "begun with other to;" in refused.errors
    done = compress(source, "-o", tmp_path / "out.jsonl", "--to", "openai", "--restart")
    assert done.code == 0
    assert "messages" in read(tmp_path / "out.jsonl")[0]


def test_an_input_that_changed_is_noticed(source: Path, tmp_path: Path) -> None:
    compress(source, "-o", tmp_path / "out.jsonl")
    write_lines(source, 31)
    assert "begun with other inputs" in compress(source, "-o", tmp_path / "out.jsonl").errors


def test_what_cannot_be_read_is_set_aside_and_the_exit_code_says_so(
    source: Path, tmp_path: Path
) -> None:
    with source.open("a") as stream:
        stream.write('{"conversations": [{"from": "nobody", "value": "x"}]}\n{"conversations": [\n')
    ended = compress(source, "-o", tmp_path / "out.jsonl")
    assert ended.code == 1
    assert len(read(tmp_path / "out.jsonl")) == 30
    aside = read(tmp_path / "out.failed.jsonl")
    assert [(each["number"], str(each["error"])[:30]) for each in aside] == [
        (31, "sharegpt: turn 0: unknown spea"),
        (32, "json: the line: it is no JSON:"),
    ]


def test_a_folder_gets_parts_packed_as_asked(source: Path, tmp_path: Path) -> None:
    ended = compress(
        source, "-o", f"{tmp_path}/parts/", "--packed", "gz", "--shard-size", "10k", "--json"
    )
    parts = sorted((tmp_path / "parts").glob("part-*.jsonl.gz"))
    assert ended.code == 0
    lines = b"".join(gzip.decompress(part.read_bytes()) for part in parts).splitlines()
    assert [json.loads(line)["id"] for line in lines] == [f"t{n}" for n in range(30)]


def test_packed_files_and_folders_are_read(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(source.read_bytes()))
    (folder / "b.json").write_text(json.dumps([trajectory(1), trajectory(2)], indent=2))
    (folder / "notes.txt").write_text("nothing of interest")
    ended = compress(folder, "-o", tmp_path / "out.jsonl")
    assert ended.code == 0
    assert len(read(tmp_path / "out.jsonl")) == 32
    assert f"{folder / 'notes.txt'}: it is not JSON" in ended.errors


def test_a_sample_is_the_same_for_a_seed_and_another_for_another(
    source: Path, tmp_path: Path
) -> None:
    def sample(name: str, seed: int) -> list[object]:
        compress(source, "-o", tmp_path / name, "--sample", "40%", "--seed", seed)
        return [each["id"] for each in read(tmp_path / name)]

    one, same, other = sample("a.jsonl", 1), sample("b.jsonl", 1), sample("c.jsonl", 2)
    assert one == same != other
    assert 4 <= len(one) <= 20


def test_a_dry_run_writes_nothing(source: Path, tmp_path: Path) -> None:
    ended = compress(source, "--dry-run", "-o", tmp_path / "out.jsonl")
    assert ended.code == 0
    assert ended.text.startswith("would compress 20 of 30 trajectories")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_secrets_are_in_nothing_that_is_written(source: Path, tmp_path: Path) -> None:
    value = trajectory(1)
    turns = value["conversations"]
    assert isinstance(turns, list)
    leaky = [*turns[:6], {"from": "human", "value": f"the key is {SECRET} for all"}, *turns[6:]]
    leaky.append({"from": "gpt", "value": f"export OPENAI_API_KEY={SECRET}"})
    with source.open("a") as stream:
        stream.write(json.dumps({**value, "conversations": leaky, "api_key": SECRET}) + "\n")
        stream.write(json.dumps({"conversations": [{"from": "who", "value": SECRET}]}) + "\n")
    compress(source, "-o", tmp_path / "out.jsonl", "--report", tmp_path / "report.html")
    written = [path for path in tmp_path.iterdir() if path != source]
    assert len(written) == 6
    assert not [path.name for path in written if SECRET.encode() in path.read_bytes()]
    kept = compress(source, "-o", tmp_path / "kept.jsonl", "--no-redact")
    assert kept.code == 1
    assert SECRET in (tmp_path / "kept.jsonl").read_text()


def test_a_pattern_of_the_settings_is_masked(source: Path, tmp_path: Path, home: Path) -> None:
    (home / "config.yaml").write_text("redaction:\n  extra_patterns: ['gamma']\n")
    compress(source, "-o", tmp_path / "out.jsonl")
    assert "gamma" in source.read_text()
    assert "gamma" not in (tmp_path / "out.jsonl").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sample", "150%"), "150% is not a share as 15% or 0.15"),
        (("--shard-size", "many"), "many is not a size as 256M or 2G"),
        ((), "name where to write with -o"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    source: Path, arguments: tuple[str, ...], words: str
) -> None:
    output = () if not arguments else ("-o", f"{source.parent}/out/")
    ended = compress(source, *arguments, *output)
    assert (ended.code, words in ended.errors) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--tokenizer", "nonsense"), "no exact vocabulary for 'nonsense'"),
        (("--tokenizer", "absent/tokenizer.json"), "no tokenizer.json that can be used"),
        (("--target", "90"), "the target is 90 tokens; allowed: more than the 750"),
    ],
)
def test_what_cannot_be_met_is_a_sentence(
    source: Path, arguments: tuple[str, ...], words: str
) -> None:
    ended = run("trajectories", "compress", str(source), "-o", f"{source}.out", *arguments)
    assert (ended.code, words in ended.errors) == (1, True)


def test_a_file_that_is_not_there_fails_and_one_without_a_trajectory_too(tmp_path: Path) -> None:
    (tmp_path / "text.jsonl").write_text("no json\n")
    for name in ("absent.jsonl", "text.jsonl"):
        ended = compress(tmp_path / name, "-o", tmp_path / "out.jsonl")
        assert (ended.code, name in ended.errors) == (1, True)


def test_several_processes_write_the_same(source: Path, tmp_path: Path) -> None:
    compress(source, "-o", tmp_path / "one.jsonl")
    arguments = (*SMALL[:-1], "2", "--json")
    ended = launch(
        "trajectories", "compress", str(source), "-o", str(tmp_path / "two.jsonl"), *arguments
    )
    assert ended.code == 0
    assert json.loads(ended.output)["summary"]["total_trajectories"] == 30
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


@pytest.fixture
def model(home: Path) -> Callable[[str], None]:
    """Return what names a server's model in the settings."""

    def configure(url: str) -> None:
        settings = {"model": "small", "provider": "openai", "base_url": f"{url}/v1"}
        config = {"auxiliary": {"compression": settings}}
        (home / "config.yaml").write_text(json.dumps(config))

    return configure


def test_a_model_writes_the_summaries_and_what_it_took_is_told(
    source: Path, tmp_path: Path, model: Callable[[str], None]
) -> None:
    with provider(chat(f"Ran the tools, and used {SECRET} for it.")) as server:
        model(server.url)
        priced = ("--price", "1/10", "--concurrency", "1", "--json")
        ended = compress(source, "-o", tmp_path / "out.jsonl", *priced)
    assert ended.code == 0
    assert len(server.requests) == 20
    summaries = [
        turn
        for each in read(tmp_path / "out.jsonl")
        for turn in each["conversations"]
        if turn.get("holdfast", {}).get("synthetic") == "summary"  # type: ignore[union-attr]
    ]
    assert {turn["from"] for turn in summaries} == {"human"}
    assert {turn["value"] for turn in summaries} == {
        "[CONTEXT SUMMARY]: Ran the tools, and used sk-p...WzYl for it."
    }
    assert summaries[0]["holdfast"] == {
        "synthetic": "summary",
        "origin": "model",
        "model": "small",
        "turns": summaries[0]["holdfast"]["turns"],  # type: ignore[index]
    }
    told = json.loads(ended.output)["summarization"]
    assert (told["total_api_calls"], told["total_errors"]) == (20, 0)
    assert told["cost"] > 0


def test_a_model_that_fails_costs_no_trajectory(
    source: Path, tmp_path: Path, model: Callable[[str], None]
) -> None:
    with provider(error(500, "oops")) as server:
        model(server.url)
        ended = compress(source, "-o", tmp_path / "out.jsonl", "--attempts", "1", "--json")
    assert ended.code == 0
    assert len(read(tmp_path / "out.jsonl")) == 30
    told = json.loads(ended.output)["summarization"]
    assert (told["total_api_calls"], told["total_errors"]) == (20, 20)


def test_a_credential_that_is_refused_ends_the_run_and_it_can_be_gone_on_with(
    source: Path, tmp_path: Path, model: Callable[[str], None]
) -> None:
    with provider(error(401, "bad key")) as server:
        model(server.url)
        ended = compress(source, "-o", tmp_path / "out.jsonl")
    assert ended.code == 1
    assert "refused the credential" in ended.errors
    assert "run the same command again to go on" in ended.errors
    with provider(chat("Ran the tools.")) as server:
        model(server.url)
        assert compress(source, "-o", tmp_path / "out.jsonl").code == 0
    assert len(read(tmp_path / "out.jsonl")) == 30


def test_a_cap_on_costs_is_kept_and_needs_a_price(
    source: Path, tmp_path: Path, model: Callable[[str], None]
) -> None:
    with provider(chat("Ran the tools. " * 20)) as server:
        model(server.url)
        capped = ("--max-cost", "0.005", "--price", "1/10", "--concurrency", "1", "--json")
        ended = compress(source, "-o", tmp_path / "out.jsonl", *capped)
        priceless = compress(source, "-o", tmp_path / "other.jsonl", "--max-cost", "5")
    told = json.loads(ended.output)["summarization"]
    assert ended.code == 0
    assert 0 < told["cost"] <= 0.005
    assert 0 < told["total_api_calls"] < 20
    assert priceless.code == 1
    assert "no price of small is known" in priceless.errors


def test_no_restart_and_no_report_destroys_an_input(source: Path, tmp_path: Path) -> None:
    before = source.read_bytes()
    for arguments in (
        ("-o", source, "--restart"),
        ("-o", tmp_path / "out.jsonl", "--report", source),
    ):
        ended = compress(source, *arguments)
        assert (ended.code, source.read_bytes() == before) == (2, True)


def test_parts_of_somebody_else_are_never_removed(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    theirs = write_lines(folder / "part-00000.jsonl", 3)
    before = theirs.read_bytes()
    ended = compress(source, "-o", folder, "--restart")
    assert (ended.code, theirs.read_bytes() == before) == (1, True)
    assert "name another folder" in ended.errors


def test_a_file_that_is_called_like_a_journal_is_left_alone(source: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "out.journal"
    theirs.write_text("Dear diary\n")
    ended = compress(source, "-o", tmp_path / "out.jsonl", "--restart")
    assert (ended.code, theirs.read_text()) == (1, "Dear diary\n")
    assert "no journal of ours" in ended.errors


def test_an_output_inside_its_input_is_not_read_again(source: Path, tmp_path: Path) -> None:
    assert compress(tmp_path, "-o", tmp_path / "out.jsonl").code == 0
    assert compress(tmp_path, "-o", tmp_path / "out.jsonl").code == 3
    assert len(read(tmp_path / "out.jsonl")) == 30


def test_trajectories_go_through_a_pipe(source: Path, tmp_path: Path) -> None:
    compress(source, "-o", tmp_path / "out.jsonl")
    ended = run("trajectories", "compress", "-", "-o", "-", *SMALL, stdin=source.read_bytes())
    assert ended.code == 0
    assert ended.output == (tmp_path / "out.jsonl").read_bytes()
    assert "compressed 20 of 30 trajectories" in ended.errors


def test_a_disk_that_is_full_loses_nothing(source: Path, tmp_path: Path) -> None:
    write_lines(source, 300)
    command = shlex.join(["trajectories", "compress", str(source), *SMALL])
    limited = (
        f"ulimit -f 100; exec {shlex.quote(sys.executable)} -m holdfast {command} -o out.jsonl"
    )
    full = subprocess.run(["sh", "-c", limited], cwd=tmp_path, capture_output=True, text=True)
    assert full.returncode == 1
    assert "cannot write out.jsonl" in full.stderr
    assert not (tmp_path / "out.jsonl").exists()
    again = launch("trajectories", "compress", str(source), *SMALL, "-o", str(tmp_path / "a.jsonl"))
    on = subprocess.run(
        [sys.executable, "-m", "holdfast", *shlex.split(command), "-o", "out.jsonl"],
        cwd=tmp_path,
        capture_output=True,
    )
    assert (again.code, on.returncode) == (0, 0)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
