"""Processes of ours run nothing that lies in the folder they are started in."""

import os
from pathlib import Path

import pytest

from holdfast.system.processes import safe_path
from holdfast.trajectories.running import PoolExecutor
from tests.trajectories.bulk import run_over, write_lines


def test_workers_run_nothing_that_lies_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("multiprocessing.py", "msgspec.py"):
        (tmp_path / name).write_text("import pathlib\npathlib.Path('sprung').touch()\n", "utf-8")
    source = write_lines(tmp_path / "in.jsonl", 3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("holdfast.trajectories.running.can_fork", lambda: False)
    with PoolExecutor(2) as pool:
        run_over(source, f"{tmp_path / 'out'}/", pool)
    assert (tmp_path / "out" / "part-00000.jsonl").exists()
    assert not (tmp_path / "sprung").exists()


def test_the_environment_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in ("", "1"):
        monkeypatch.setenv("PYTHONSAFEPATH", before)
        with safe_path():
            assert os.environ["PYTHONSAFEPATH"] == "1"
        assert os.environ["PYTHONSAFEPATH"] == before
    monkeypatch.delenv("PYTHONSAFEPATH")
    with safe_path():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert "PYTHONSAFEPATH" not in os.environ
