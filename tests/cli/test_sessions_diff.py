"""`holdfast sessions diff`: what an agent's own compaction did, measured as one of ours."""

from pathlib import Path
from typing import Any, cast

import pytest

from tests.cli.running import run

SAMPLE = Path(__file__).parents[1] / "fixtures" / "sessions" / "codex.jsonl"


@pytest.fixture
def session() -> str:
    found = cast("dict[str, Any]", run("import", str(SAMPLE), "--json").json)
    (id_,) = found["files"][0]["sessions"]
    return str(id_)


def test_the_summary_of_an_agent_is_what_its_compaction_added(session: str) -> None:
    found = cast("dict[str, Any]", run("sessions", "diff", session, "--json").json)
    (added,) = found["added"]
    assert added["beginning"].startswith("[summary] The build was fixed")
    assert added["id"] not in {each["id"] for each in found["kept"]}
    assert len(found["folded"]) == 8
    said = [*found["statements_in_window"], *found["statements_in_store_only"]]
    assert any(each["text"].startswith("make") for each in said)
    assert all(each["text"].strip() for each in said)


def test_its_figures_are_those_of_the_moment(session: str) -> None:
    lines = run("sessions", "diff", session).text.splitlines()
    assert "  messages  11 -> 4 (-64%)" in lines
    found = cast("dict[str, Any]", run("sessions", "diff", session, "--json").json)
    kept, gone = (len(found[f"statements_in_{where}"]) for where in ("window", "store_only"))
    assert f"  said      {kept} of {kept + gone} that went still stand in the window" in lines
    assert f"statements that only the store has: {gone}" in lines
    tokens = next(line for line in lines if line.startswith("  tokens"))
    before, after = (int(word) for word in tokens.split() if word.isdigit())
    assert f"the record: about {after - before + 133} tokens" in lines
    assert "folded: 8 messages, about 133 tokens" in lines


def test_undoing_it_shows_what_it_folded(session: str) -> None:
    found = cast("dict[str, Any]", run("sessions", "diff", session, "--json").json)
    folded = {each["id"] for each in found["folded"]}
    assert run("sessions", "undo", session).code == 0
    shown = cast("dict[str, Any]", run("sessions", "show", session, "--limit", "0", "--json").json)
    assert folded < {each["id"] for each in shown["messages"]}
    assert run("sessions", "redo", session).code == 0
