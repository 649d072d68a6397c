"""The import contracts hold, and have been seen to fail when broken."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_logo=True))"


def check_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of one copy of the source, whichever copy is installed."""
    return subprocess.run(
        [sys.executable, "-c", CHECK],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(repository: Path, tmp_path: Path) -> Path:
    shutil.copy(repository / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "src", tmp_path / "src", ignore=ignored)
    return tmp_path


def test_the_source_keeps_its_contracts(copy: Path) -> None:
    checked = check_imports(copy)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    ("place", "line", "contract"),
    [
        ("transcript", "import holdfast.wiring", "Each layer imports only the layers below it"),
        ("tokens", "import holdfast.facts", "Each layer imports only the layers below it"),
        (
            "wire",
            "import socket",
            "The core has no clock, socket, file, log, environment or chance",
        ),
        ("facts", "import time", "The core has no clock, socket, file, log, environment or chance"),
    ],
)
def test_an_import_in_the_wrong_direction_is_refused(
    copy: Path, place: str, line: str, contract: str
) -> None:
    (copy / "src/holdfast" / place / "stray.py").write_text(f"{line}\n", "utf-8")
    checked = check_imports(copy)
    assert checked.returncode == 1
    assert f"{contract} BROKEN" in " ".join(checked.stdout.split())


def test_a_package_outside_every_layer_is_refused(copy: Path) -> None:
    (copy / "src/holdfast/stray.py").write_text("", "utf-8")
    checked = check_imports(copy)
    assert checked.returncode == 1
    assert "stray" in checked.stdout
