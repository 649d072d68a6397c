"""The usual places follow the home directory, the environment and the system."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast.agent_files.places import Machine, usual_places

HOME = Path("/home/someone")


def paths(
    agent: str, environ: Mapping[str, str] | None = None, system: str = "linux"
) -> list[Path]:
    machine = Machine(HOME, environ or {}, system)
    return [place.path for place in usual_places(machine) if place.agent == agent]


def test_every_agent_has_a_place_but_the_one_that_keeps_runs_in_its_checkout() -> None:
    agents = {place.agent for place in usual_places(Machine(HOME, {}))}
    assert len(agents) == 17
    assert "SWE-agent" not in agents
    assert paths("SWE-agent", {"SWE_AGENT_TRAJECTORY_DIR": "/runs"}) == [Path("/runs")]


@pytest.mark.parametrize(
    ("agent", "environ", "expected"),
    [
        ("Claude Code", {}, [HOME / ".claude/projects"]),
        ("Claude Code", {"CLAUDE_CONFIG_DIR": ""}, [HOME / ".claude/projects"]),
        (
            "Claude Code",
            {"CLAUDE_CONFIG_DIR": "/elsewhere"},
            [Path("/elsewhere/projects"), HOME / ".claude/projects"],
        ),
        (
            "Codex",
            {"CODEX_HOME": "~/codex"},
            [
                HOME / "codex/sessions",
                HOME / "codex/archived_sessions",
                HOME / ".codex/sessions",
                HOME / ".codex/archived_sessions",
            ],
        ),
        (
            "Pi",
            {"PI_CODING_AGENT_SESSION_DIR": "/pi"},
            [Path("/pi"), HOME / ".pi/agent/sessions"],
        ),
        (
            "Gemini CLI",
            {"GEMINI_CLI_HOME": "/other"},
            [Path("/other/.gemini/tmp"), HOME / ".gemini/tmp"],
        ),
        (
            "opencode",
            {"XDG_DATA_HOME": "/share"},
            [
                Path("/share/opencode/opencode.db"),
                Path("/share/opencode/storage"),
                HOME / ".local/share/opencode/opencode.db",
                HOME / ".local/share/opencode/storage",
            ],
        ),
    ],
)
def test_a_variable_adds_a_place_to_the_usual_one(
    agent: str, environ: dict[str, str], expected: list[Path]
) -> None:
    assert paths(agent, environ) == expected


def test_every_place_of_an_agent_with_several_programs_is_looked_at() -> None:
    brains = [f".gemini/{name}/brain" for name in ("antigravity-cli", "antigravity")]
    assert {HOME / brain for brain in brains} < set(paths("Antigravity"))
    assert paths("Cursor") == [HOME / ".cursor/projects", HOME / ".cursor/chats"]
    whole = [place.names for place in usual_places(Machine(HOME, {})) if "brain" in place.path.name]
    assert all("transcript_full.jsonl" in names for names in whole)


def test_hermes_has_a_place_of_its_own_on_windows() -> None:
    local = HOME / "AppData" / "Local" / "hermes"
    assert {local / "state.db", HOME / ".hermes" / "state.db"} < set(paths("Hermes", {}, "win32"))
    assert local / "state.db" not in paths("Hermes")


def test_a_variable_that_names_the_usual_place_adds_none() -> None:
    assert paths("Codex", {"CODEX_HOME": str(HOME / ".codex")}) == paths("Codex")


@pytest.mark.parametrize(
    ("system", "environ", "expected"),
    [
        ("linux", {}, HOME / ".config/mini-swe-agent"),
        ("linux", {"XDG_CONFIG_HOME": "/settings"}, Path("/settings/mini-swe-agent")),
        ("darwin", {}, HOME / "Library/Application Support/mini-swe-agent"),
        ("win32", {}, HOME / "AppData/Local/mini-swe-agent/mini-swe-agent"),
        ("win32", {"LOCALAPPDATA": "/local"}, Path("/local/mini-swe-agent/mini-swe-agent")),
        ("darwin", {"MSWEA_GLOBAL_CONFIG_DIR": "~/mini"}, HOME / "mini"),
    ],
)
def test_settings_folders_differ_between_systems(
    system: str, environ: dict[str, str], expected: Path
) -> None:
    assert paths("mini-swe-agent", environ, system) == [expected]
