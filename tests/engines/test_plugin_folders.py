"""Importing a folder: where the contract is found, and what is left as it was."""

import sys
from pathlib import Path

import pytest

from holdfast import ContextEngine
from holdfast.engines.registry import imported

CODE = "from agent.context_engine import ContextEngine as Found\n"


def test_the_contract_is_found_where_another_agent_has_it(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "__init__.py").write_text(CODE)
    module = imported(folder)
    assert vars(module)["Found"] is ContextEngine
    assert imported(folder) is module
    assert {"agent", "agent.context_engine"}.isdisjoint(sys.modules)


@pytest.mark.parametrize("has_its_own", [True, False])
def test_a_package_of_that_name_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_its_own: bool
) -> None:
    package = tmp_path / "site" / "agent"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    if has_its_own:
        (package / "context_engine.py").write_text("class ContextEngine: ...\n")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    folder = tmp_path / "two"
    folder.mkdir()
    (folder / "__init__.py").write_text(CODE)
    found = vars(imported(folder))["Found"]
    assert (found is not ContextEngine) is has_its_own


def test_two_folders_of_one_name_are_two_plug_ins(tmp_path: Path) -> None:
    for place in ("a", "b"):
        folder = tmp_path / place / "same"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(f"PLACE = {place!r}\n")
    places = [vars(imported(tmp_path / place / "same"))["PLACE"] for place in ("a", "b")]
    assert places == ["a", "b"]
