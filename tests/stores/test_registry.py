"""Stores are found by the scheme of their address, built-in or brought by a package."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from holdfast import stores
from holdfast.errors import ConfigError, StoreError
from holdfast.ports import REQUIRED, Capability, Store
from holdfast.session import Session
from holdfast.stores import file_of, is_durable, known_schemes, open_url
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore

SESSION = Session(id="one", source="test", started=1)


class Half(MemoryStore):
    """A store that is not finished."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        return REQUIRED - {Capability.SEARCH}


def opened(url: str) -> Store:
    return MemoryStore(f"brought {url}")


def unfinished(_: str) -> Store:
    return Half()


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install packages that bring stores."""
    here = __name__
    found = [
        EntryPoint("brought", f"{here}:opened", stores.GROUP),
        EntryPoint("half", f"{here}:unfinished", stores.GROUP),
        EntryPoint("absent", "no.such.module:opened", stores.GROUP),
        EntryPoint("nothing", f"{here}:SESSION", stores.GROUP),
    ]
    monkeypatch.setattr(stores, "_entry_points", lambda: found)


@pytest.mark.parametrize("prefix", ["", "sqlite:///"])
def test_a_path_and_an_address_open_the_same_file(tmp_path: Path, prefix: str) -> None:
    path = tmp_path / "store.db"
    store = open_url(f"{prefix}{path}")
    assert isinstance(store, SqliteStore)
    assert (store.file, file_of(f"{prefix}{path}")) == (path, path)
    assert store.capabilities == frozenset(Capability)
    store.close()


def test_memory_is_fresh_unless_it_has_a_name() -> None:
    open_url("memory:").create(SESSION)
    assert open_url("memory:").check().sessions == 0
    first = open_url("memory:one for this test")
    first.create(SESSION)
    first.close()
    again = open_url("memory:one for this test")
    assert again.session("one").id == "one"
    assert (again.name, again.capabilities) == ("memory:one for this test", REQUIRED)
    assert (file_of("memory:"), is_durable("memory:x"), is_durable("x")) == (None, False, True)


@pytest.mark.parametrize("url", ["postgresql://host/db", "redis://x"])
def test_an_address_that_nobody_opens_is_a_sentence(url: str) -> None:
    with pytest.raises(ConfigError, match=r"opens \w+:// addresses.*holdfast\.stores.*memory:"):
        open_url(url)
    with pytest.raises(ConfigError, match="names no file"):
        open_url("sqlite://host/db")


def test_a_package_brings_a_store(packages: None) -> None:
    assert open_url("brought://host/db").name == "memory:brought brought://host/db"
    assert known_schemes() == ("absent", "brought", "half", "memory", "nothing", "sqlite")
    with pytest.raises(ConfigError, match="brought://"):
        open_url("postgresql://host/db")


def test_a_store_that_cannot_be_used_says_why(packages: None) -> None:
    with pytest.raises(StoreError, match="lacks search"):
        open_url("half://")
    with pytest.raises(ConfigError, match=r"no\.such"):
        open_url("absent://")
    with pytest.raises(ConfigError, match="is no function"):
        open_url("nothing://")
