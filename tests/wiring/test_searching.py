"""Search from the library: the configured store, other profiles, and nothing left open."""

from pathlib import Path
from typing import cast

import pytest

import holdfast
from holdfast.config import Settings
from holdfast.errors import ConfigError, StoreError
from holdfast.session import Session
from holdfast.system import SystemClock
from holdfast.wiring.searching import open_profile
from holdfast.wiring.stores import store_file, store_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_SESSION_ID", "")
    return tmp_path


def talk(profile: str, home: Path, *words: str) -> str:
    """Store a conversation under a profile, and return its id."""
    place = store_file("sqlite", profile, {"HOLDFAST_HOME": str(home)})
    with holdfast.Conversation.open(store=place, active=False) as chat:
        for each in words:
            chat.add_user(each)
        return chat.id


def found_in(document: dict[str, object]) -> list[object]:
    return [each["session_id"] for each in cast("list[dict[str, object]]", document["results"])]


def test_the_configured_store_is_searched_by_default(home: Path) -> None:
    id_ = talk("default", home, "a zebra")
    assert found_in(holdfast.session_search(query="zebra")) == [id_]


def test_a_store_is_searched_by_its_path(home: Path) -> None:
    id_ = talk("work", home, "a zebra")
    place = home / "profiles" / "work" / "holdfast.db"
    assert found_in(holdfast.session_search(query="zebra", store=place)) == [id_]


def test_a_store_that_is_open_stays_open(home: Path) -> None:
    id_ = talk("default", home, "a zebra")
    store = store_of(Settings(), {"HOLDFAST_HOME": str(home)})
    assert found_in(holdfast.session_search(query="zebra", store=store)) == [id_]
    assert store.session(id_).id == id_
    store.close()


def test_the_asking_session_and_the_budget_can_be_given(home: Path) -> None:
    id_ = talk("default", home, "a zebra " * 2_000)
    assert found_in(holdfast.session_search(query="zebra", current=id_)) == []
    assert "cut" in holdfast.session_search(query="zebra", budget=500)
    assert "cut" not in holdfast.session_search(query="zebra", budget=50_000)


def test_another_profile_is_searched_by_its_name(home: Path) -> None:
    talk("default", home, "a lion")
    id_ = talk("work", home, "a zebra")
    assert found_in(holdfast.session_search(query="zebra", profile="work")) == [id_]
    assert holdfast.session_search(profile="play") == {
        "error": "there is no profile 'play' with sessions; there are: default, work"
    }


@pytest.mark.parametrize("name", ["../default", "/etc", "", "work/.."])
def test_a_profile_never_leads_out_of_its_folder(home: Path, name: str) -> None:
    talk("default", home, "a lion")
    with pytest.raises(ConfigError, match="there is no profile"):
        open_profile(name, {"HOLDFAST_HOME": str(home)})


def test_another_profile_cannot_be_written(home: Path) -> None:
    talk("work", home, "a zebra")
    store = open_profile("work", {"HOLDFAST_HOME": str(home)})
    moment = SystemClock().moment()
    with pytest.raises(StoreError):
        store.create(Session(id="20260101_000000_000001", source="cli", started=moment))
    store.close()
