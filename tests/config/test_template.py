"""The file that `config init` writes explains every key and changes nothing."""

import stat
from pathlib import Path

import pytest

from holdfast.config import KEYS, Settings, load, template, write_template
from holdfast.errors import ConfigError


def uncommented(text: str) -> str:
    """Return the file with every key switched on, as a user would do it."""
    names = {path.rpartition(".")[2] for path in KEYS}
    lines: list[str] = []
    for line in text.split("\n"):
        key = line.strip().removeprefix("# ").partition(":")[0]
        is_key = line.strip().startswith("# ") and key in names
        lines.append(line.replace("# ", "", 1) if is_key else line)
    return "\n".join(lines)


def test_the_file_as_written_changes_nothing(tmp_path: Path) -> None:
    write_template(tmp_path / "config.yaml")
    assert load({"HOLDFAST_HOME": str(tmp_path)}).settings == Settings()


def test_every_key_is_there_with_its_default(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(uncommented(template()), "utf-8")
    configuration = load({"HOLDFAST_HOME": str(tmp_path)})
    assert configuration.settings == Settings()
    assert {setting.origin.kind for setting in configuration.chosen.values()} == {"file"}


def test_only_its_owner_may_read_the_file(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "config.yaml"
    write_template(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("mine", "utf-8")
    with pytest.raises(ConfigError, match="exists; --force replaces it"):
        write_template(file)
    assert file.read_text("utf-8") == "mine"
    write_template(file, force=True)
    assert file.read_text("utf-8") == template()
