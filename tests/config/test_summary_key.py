"""The key of an installation: made once, for its owner alone, and never in the way."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.config.summary_key import FILE_NAME, VARIABLE, process_sign, summary_key
from holdfast.errors import ConfigError

MAKE = """
import os
from holdfast.config.summary_key import summary_key
print(summary_key(os.environ).hex())
"""


def test_a_key_is_made_when_it_is_first_needed_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    key = summary_key({"HOLDFAST_HOME": str(home)})
    file = home / FILE_NAME
    assert file.read_bytes().strip() == key
    assert [each.name for each in home.iterdir()] == [FILE_NAME]
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_processes_that_start_at_once_have_one_key(tmp_path: Path) -> None:
    environ = {**os.environ, "HOLDFAST_HOME": str(tmp_path / "home"), VARIABLE: ""}
    starts = [
        subprocess.Popen([sys.executable, "-c", MAKE], env=environ, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    keys = {start.communicate(timeout=60)[0] for start in starts}
    assert keys == {(tmp_path / "home" / FILE_NAME).read_bytes().strip().hex().encode() + b"\n"}


def test_the_environment_gives_a_key_that_machines_share(tmp_path: Path) -> None:
    given = "a key that several machines have in common"
    assert summary_key({VARIABLE: given, "HOLDFAST_HOME": str(tmp_path)}) == given.encode()
    assert not list(tmp_path.iterdir())


def test_a_key_that_is_easily_guessed_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs 32 or more"):
        summary_key({VARIABLE: "secret"})


def test_where_no_file_can_be_kept_the_key_lives_as_long_as_the_process(tmp_path: Path) -> None:
    blocked = tmp_path / "home"
    blocked.write_text("a file in the place of the folder")
    key = summary_key({"HOLDFAST_HOME": str(blocked)})
    assert key == summary_key({"HOLDFAST_HOME": str(blocked)})
    assert len(key) >= 32


def test_a_file_that_holds_no_key_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    file.write_text("short")
    assert len(summary_key({"HOLDFAST_HOME": str(tmp_path)})) >= 32
    assert file.read_text() == "short"


def test_a_process_has_one_key_of_its_own() -> None:
    assert process_sign("x") == process_sign("x") != process_sign("y")
