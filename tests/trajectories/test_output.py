"""What a run leaves on the disk: whole files, a journal to go on by, and nothing mixed."""

import gzip
import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.trajectories.output import (
    AlreadyDone,
    BatchLines,
    OutputError,
    OutputFiles,
    RunOutput,
)

RUN = {"inputs": ["a.jsonl"], "tokenizer": "o200k"}


def lines(number: int) -> BatchLines:
    return BatchLines(
        f'{{"n":{number}}}\n'.encode(),
        f'{{"source":"a","number":{number}}}\n'.encode(),
        f'{{"error":{number}}}\n'.encode() if number % 5 == 4 else b"",
    )


def written(files: OutputFiles, first: int, last: int, *, finish: bool) -> int:
    """Write batches up to the last as a run would, and return where it went on."""
    with RunOutput(files, RUN, restart=False) as output:
        for number in range(output.resumed, last):
            output.write(lines(number))
        if finish:
            output.finish()
        assert output.resumed == first
        return output.resumed


def test_an_output_has_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    files = OutputFiles.at(str(tmp_path / "out.jsonl"))
    written(files, 0, 3, finish=False)
    assert not files.output.exists()
    written(files, 3, 6, finish=True)
    assert files.output.read_text() == "".join(f'{{"n":{number}}}\n' for number in range(6))
    assert sorted(os.listdir(tmp_path)) == [
        "out.failed.jsonl",
        "out.journal",
        "out.jsonl",
        "out.metrics.jsonl",
    ]


def test_a_run_without_failures_leaves_no_list_of_them(tmp_path: Path) -> None:
    written(OutputFiles.at(str(tmp_path / "out.jsonl")), 0, 3, finish=True)
    assert not (tmp_path / "out.failed.jsonl").exists()


def test_what_was_torn_is_cut_back_to_the_journal(tmp_path: Path) -> None:
    files = OutputFiles.at(str(tmp_path / "out.jsonl"))
    written(files, 0, 4, finish=False)
    for partial in tmp_path.glob(".*.partial"):
        with partial.open("ab") as stream:
            stream.write(b'{"n": half a li')
    with files.beside("journal").open("ab") as stream:
        stream.write(b'{"batches": 9')
    written(files, 4, 6, finish=True)
    assert files.output.read_text() == "".join(f'{{"n":{number}}}\n' for number in range(6))


def test_a_run_that_is_done_is_not_done_again(tmp_path: Path) -> None:
    files = OutputFiles.at(str(tmp_path / "out.jsonl"))
    written(files, 0, 2, finish=True)
    with pytest.raises(AlreadyDone, match="nothing is left to do"):
        RunOutput(files, RUN, restart=False)


def test_an_output_that_was_removed_is_made_again(tmp_path: Path) -> None:
    files = OutputFiles.at(str(tmp_path / "out.jsonl"))
    written(files, 0, 2, finish=True)
    files.output.unlink()
    written(files, 0, 2, finish=True)
    assert files.output.read_text() == '{"n":0}\n{"n":1}\n'


def test_other_options_are_refused_by_name(tmp_path: Path) -> None:
    files = OutputFiles.at(str(tmp_path / "out.jsonl"))
    written(files, 0, 2, finish=False)
    with pytest.raises(OutputError, match=r"begun with other tokenizer; .* --restart"):
        RunOutput(files, {**RUN, "tokenizer": "cl100k"}, restart=False)


def test_a_restart_throws_everything_away(tmp_path: Path) -> None:
    files = OutputFiles.at(f"{tmp_path / 'parts'}/", shard_bytes=1)
    written(files, 0, 4, finish=True)
    with RunOutput(files, {**RUN, "tokenizer": "cl100k"}, restart=True) as output:
        output.write(lines(7))
        output.finish()
    assert [path.name for path in sorted(files.output.glob("part-*"))] == ["part-00000.jsonl"]


def test_a_file_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    place = tmp_path / "out.jsonl"
    place.write_text("precious\n")
    with pytest.raises(OutputError, match="name another output, or replace it with --restart"):
        RunOutput(OutputFiles.at(str(place)), RUN, restart=False)
    assert place.read_text() == "precious\n"


def test_a_partial_file_that_lost_bytes_is_refused(tmp_path: Path) -> None:
    files = OutputFiles.at(str(tmp_path / "out.jsonl"))
    written(files, 0, 4, finish=False)
    os.truncate(tmp_path / ".out.jsonl.partial", 3)
    with pytest.raises(OutputError, match="shorter than its journal says"):
        RunOutput(files, RUN, restart=False)


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write .*: Not a directory"):
        RunOutput(OutputFiles.at(f"{tmp_path / 'file' / 'below'}/"), RUN, restart=False)


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@given(stops=st.lists(st.integers(0, 12), max_size=4), shard_bytes=st.integers(1, 60))
def test_parts_are_the_same_however_often_a_run_was_stopped(
    tmp_path_factory: pytest.TempPathFactory, packing: str, stops: list[int], shard_bytes: int
) -> None:
    folders = [tmp_path_factory.mktemp("parts") for _ in range(2)]
    whole, stopped = (
        OutputFiles.at(f"{folder}/", packing=packing, shard_bytes=shard_bytes) for folder in folders
    )
    written(whole, 0, 12, finish=True)
    at = 0
    for stop in sorted(stops):
        at = max(written(stopped, at, stop, finish=False), stop)
    written(stopped, at, 12, finish=True)
    names = {"journal"}
    one, other = (
        {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in names}
        for folder in folders
    )
    assert one == other


@pytest.mark.parametrize("step", range(5))
def test_a_run_that_ends_while_files_get_their_names_is_whole_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    rename, calls = Path.replace, 0

    def stopped(path: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == step + 1:
            raise KeyboardInterrupt
        return rename(path, target)

    files = OutputFiles.at(f"{tmp_path / 'parts'}/", shard_bytes=20)
    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        written(files, 0, 9, finish=True)
    monkeypatch.undo()
    with suppress(AlreadyDone), RunOutput(files, RUN, restart=False) as output:
        for number in range(output.resumed, 9):
            output.write(lines(number))
        output.finish()
    parts = sorted(files.output.glob("part-*"))
    assert b"".join(part.read_bytes() for part in parts) == b"".join(
        lines(number).trajectories for number in range(9)
    )
    assert len(parts) == 3
    assert not list(files.output.glob(".*"))


def test_a_packed_output_is_read_by_everybody(tmp_path: Path) -> None:
    files = OutputFiles.at(str(tmp_path / "out.jsonl.gz"))
    written(files, 0, 3, finish=False)
    written(files, 3, 5, finish=True)
    with gzip.open(files.output) as stream:
        assert [json.loads(line)["n"] for line in stream] == [0, 1, 2, 3, 4]
    assert files.beside("metrics.jsonl").name == "out.metrics.jsonl"
