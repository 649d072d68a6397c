"""`holdfast config`: where each value came from, and a file to begin with."""

import json
import stat
from pathlib import Path

from holdfast.config import KEYS
from tests.cli.running import run


def test_show_says_where_each_value_came_from(home: Path) -> None:
    (home / "config.yaml").write_text("compression:\n  threshold: 0.6\n", "utf-8")
    ended = run("config", "show", "--json", env={"HOLDFAST_MODEL_NAME": "gpt-6"})
    found = json.loads(ended.output)
    assert list(found["settings"]) == list(KEYS)
    assert found["settings"]["compression.threshold"] == {
        "value": 0.6,
        "from": "file",
        "where": f"{home}/config.yaml, line 2",
    }
    assert found["settings"]["model.name"]["from"] == "environment"
    assert found["settings"]["model.provider"]["from"] == "default"


def test_show_is_a_table_for_people(home: Path) -> None:
    shown = run("config", "show").text
    assert shown.startswith(f"file: {home}/config.yaml (not there; holdfast config init writes it)")
    assert len(shown.splitlines()) == len(KEYS) + 2


def test_a_credential_in_an_address_is_not_shown() -> None:
    env = {"HOLDFAST_MODEL_BASE_URL": "https://me:Xk92mQp7Lw3zR8@models.example/v1"}
    assert "Xk92mQp7Lw3zR8" not in run("config", "show", env=env).text


def test_init_writes_once(home: Path) -> None:
    file = home / "config.yaml"
    first, second = run("config", "init"), run("config", "init")
    assert (first.code, first.text) == (0, f"wrote {file}\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (second.code, second.errors) == (1, f"holdfast: {file} exists; --force replaces it\n")
    assert run("config", "init", "--force", "--json").json == {"path": str(file)}
    assert run("config", "show").code == 0


def test_path_is_the_path(home: Path) -> None:
    assert run("config", "path").text == f"{home}/config.yaml\n"
    assert run("config", "path", "--json").json == {
        "path": f"{home}/config.yaml",
        "exists": False,
    }
