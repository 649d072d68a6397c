"""Advice names commands that work in the shell of whoever reads it."""

import os
import sys
from pathlib import Path

import pytest

from holdfast.cli.root import as_typed, to_type
from holdfast.config import Settings
from holdfast.config.settings import StoreSettings
from tests.cli.running import run

HERE = Path(sys.executable).parent
ADVICE = "run `holdfast doctor --repair`, or holdfast sessions list"


def test_our_name_stands_where_the_path_leads_to_this_installation() -> None:
    assert as_typed(ADVICE) == ADVICE


@pytest.mark.parametrize("other", [False, True])
def test_a_path_stands_where_our_name_leads_nowhere_or_elsewhere(
    other: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if other:
        (tmp_path / "holdfast").write_text("#!/bin/sh\n", "utf-8")
        (tmp_path / "holdfast").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    own = HERE / "holdfast"
    expected = str(own) if own.is_file() else f"{sys.executable} -m holdfast"
    monkeypatch.chdir(tmp_path)
    assert as_typed("holdfast sample") == f"{expected} sample"
    if own.is_file():
        monkeypatch.chdir(HERE.parent)
        assert as_typed("holdfast sample") == f"{HERE.name}/holdfast sample"


def test_an_error_names_a_command_that_is_there(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = home / "profiles" / "default" / "holdfast.db"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"this is no database at all" * 100)
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = run("sessions", "list")
    assert ended.code == 1
    assert f"`{as_typed('holdfast doctor')} --repair`" in ended.errors


@pytest.mark.skipif(os.name == "nt", reason="shells differ")
def test_a_command_to_type_goes_to_the_same_store(home: Path) -> None:
    settings = Settings(store=StoreSettings(url="/a b/x.db", profile="work"))
    assert to_type("chat --resume last", settings) == (
        f"HOLDFAST_HOME={home} holdfast chat --resume last --store '/a b/x.db' --profile work"
    )
