"""Memory as the settings say: the profile's files, and the provider that is named."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.config import Settings
from holdfast.config.settings import MemorySettings, StoreSettings
from holdfast.errors import ConfigError
from holdfast.wiring.memories import memory_files_of, memory_folder, memory_hub_of


def test_memory_lies_beside_the_sessions_of_the_profile(tmp_path: Path) -> None:
    environ = {"HOLDFAST_HOME": str(tmp_path)}
    settings = Settings(store=StoreSettings(url="/elsewhere/store.db", profile="work"))
    wanted = tmp_path / "profiles" / "work" / "memories"
    assert memory_folder("work", environ) == wanted
    assert memory_files_of(settings, environ).folder == wanted
    with pytest.raises(ConfigError, match="a profile is named like a file"):
        memory_folder("../x", environ)


def test_a_memory_hub_has_the_files_the_project_and_the_tool(tmp_path: Path) -> None:
    environ = {"HOLDFAST_HOME": str(tmp_path)}
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").write_text("Use tabs.", "utf-8")
    memory = memory_hub_of(Settings(), environ, project=project, reserved=["read_file"])
    kept = json.loads(memory.call("memory", {"action": "add", "content": "Tea."}))
    assert (kept["done"], kept["entries"]) == (True, ["Tea."])
    assert '### AGENTS.md\n<reference from="AGENTS.md">\nUse tabs.' in memory.system_block()
    assert [spec.name for spec in memory.tools()] == ["memory"]
    assert memory.status().provider == ""
    assert memory.close() == ()
    with pytest.raises(
        ConfigError, match="its tool memory would hide the tool memory of the agent"
    ):
        memory_hub_of(Settings(), environ, reserved=["memory"])


def test_a_provider_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    settings = replace(Settings(), memory=MemorySettings(provider="moon"))
    with pytest.raises(ConfigError, match=r"memory\.provider is moon; allowed: mem0"):
        memory_hub_of(settings, {"HOLDFAST_HOME": str(tmp_path)})
