"""Where sessions are kept: paths, profiles that never escape, files for the user alone."""

import stat
from pathlib import Path

import pytest

from holdfast.config import Settings
from holdfast.errors import ConfigError
from holdfast.stores.sqlite import SqliteStore
from holdfast.wiring import open_store, profile_names, store_file, store_of


def test_a_profile_has_a_file_of_its_own(tmp_path: Path) -> None:
    environ = {"HOLDFAST_HOME": str(tmp_path)}
    files = {name: store_file("sqlite", name, environ) for name in ("default", "work")}
    assert len(set(files.values())) == 2
    assert all(file.is_relative_to(tmp_path) for file in files.values())


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "/etc", "a\\b", "a\0b", "~", "C:x", ".hidden", "a b\n"]
)
def test_a_profile_never_escapes(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"store\.profile"):
        store_file("sqlite", name, {"HOLDFAST_HOME": str(tmp_path)})


def test_a_path_and_an_address_name_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    assert store_file(str(path), "default", {}) == path
    assert store_file(f"sqlite:///{path}", "default", {}) == path
    with pytest.raises(ConfigError, match="postgres"):
        store_file("postgres://host/db", "default", {})


def test_files_and_folders_are_the_users_alone(tmp_path: Path) -> None:
    environ = {"HOLDFAST_HOME": str(tmp_path / "home")}
    store = store_of(Settings(), environ)
    store.remember("a", "b")
    file = Path(store.name)
    made = [file, *file.parent.glob("*-wal"), *file.parent.glob("*-shm")]
    assert len(made) == 3
    assert {stat.S_IMODE(each.stat().st_mode) for each in made} == {0o600}
    folders = [each for each in file.parents if each.is_relative_to(tmp_path / "home")]
    assert {stat.S_IMODE(each.stat().st_mode) for each in folders} == {0o700}
    assert profile_names(environ) == ("default",)
    store.close()


def test_an_open_store_is_used_as_it_is(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    assert open_store(store, {}) is store
    store.close()
