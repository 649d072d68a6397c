"""`--store`: every command that reads a store can be pointed at another one."""

from pathlib import Path

import click
import pytest

from holdfast.cli.root import COMMANDS, root
from holdfast.cli.sessions import SUBCOMMANDS
from tests.cli.running import run
from tests.cli.stored import conversation

READING = [
    *((name,) for name in COMMANDS if name in {"chat", "compress", "doctor", "export", "import"}),
    *((name,) for name in COMMANDS if name in {"inspect", "search", "validate"}),
    *(("sessions", name) for name in SUBCOMMANDS),
]
assert isinstance(root, click.Group)


@pytest.fixture(name="elsewhere")
def _elsewhere(tmp_path: Path) -> tuple[str, str]:
    """Return the place of a store that no setting names, and the session in it."""
    place = tmp_path / "elsewhere.db"
    with conversation(place) as chat:
        return str(place), chat.id


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_every_command_that_reads_a_store_takes_the_place_of_one(command: tuple[str, ...]) -> None:
    found = run(*command, "--help")
    assert "--store PLACE" in found.text
    assert "--profile NAME" in found.text


@pytest.mark.parametrize(
    "command",
    [
        ("sessions", "list"),
        ("sessions", "show", "last"),
        ("sessions", "tree", "last"),
        ("sessions", "export", "last"),
        ("inspect", "last"),
        ("search", "port"),
        ("doctor", "--offline"),
    ],
    ids=" ".join,
)
def test_a_store_that_is_named_is_the_one_that_is_read(
    command: tuple[str, ...], elsewhere: tuple[str, str], home: Path
) -> None:
    place, id_ = elsewhere
    found = run(*command, "--store", place)
    assert found.code == 0, found.errors
    assert id_ in found.text or "what does src/m_0.py do" in found.text or place in found.text
    assert not (home / "profiles").exists()


def test_an_import_goes_to_the_store_that_is_named(tmp_path: Path, home: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text('[{"role": "user", "content": "a quiet harbor"}]', "utf-8")
    place = str(tmp_path / "made.db")
    assert run("import", str(file), "--store", place).code == 0
    assert "a quiet harbor" in run("sessions", "list", "--store", place).text
    assert not (home / "profiles").exists()


@pytest.mark.parametrize("place", ["", "ftp://somewhere/x"])
def test_a_place_that_can_be_none_is_told_in_one_sentence(place: str) -> None:
    found = run("sessions", "list", "--store", place)
    assert found.code in {1, 2}
    assert found.errors.startswith("holdfast: ")
