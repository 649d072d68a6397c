"""A backup leaves nothing behind but the copy."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from holdfast.stores.sqlite import SqliteStore


def test_what_a_killed_backup_left_goes_with_the_next_one(tmp_path: Path) -> None:
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    number = int(gone.stdout)
    copies = tmp_path / "copies"
    copies.mkdir()
    names = [
        f".copy.db.{number}.unfinished",
        f".copy.db.{number}.unfinished-journal",
        f".copy.db.{os.getppid()}.unfinished",
        f".other.db.{number}.unfinished",
    ]
    for name in names:
        (copies / name).write_bytes(b"half")
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.backup(copies / "copy.db")
    assert {each.name for each in copies.iterdir()} == {"copy.db", *names[2:]}
