"""The import contracts hold, and have been seen to fail when broken."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

CHECK = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_logo=True))"

LAYERS = "Each layer imports only the layers below it"
PURE_CORE = "The core has no clock, socket, file, log, environment or chance"
STRAYS = (
    ("transcript", "holdfast.wiring"),
    ("redaction", "holdfast.facts"),
    ("wire", "socket"),
    ("session", "time"),
)
"""Packages, each with something that it must not import."""


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


def copied(repository: Path, folder: Path) -> Path:
    shutil.copy(repository / "pyproject.toml", folder)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "src", folder / "src", ignore=ignored)
    return folder


def test_the_source_keeps_its_contracts(repository: Path, tmp_path: Path) -> None:
    checked = check_imports(copied(repository, tmp_path))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_an_import_in_the_wrong_direction_is_refused(repository: Path, tmp_path: Path) -> None:
    copy = copied(repository, tmp_path)
    for place, line in STRAYS:
        (copy / "src/holdfast" / place / "stray.py").write_text(f"import {line}\n", "utf-8")
    checked = check_imports(copy)
    assert checked.returncode == 1
    said = " ".join(checked.stdout.split())
    for contract in (LAYERS, PURE_CORE):
        assert f"{contract} BROKEN" in said
    for place, line in STRAYS:
        assert f"holdfast.{place}.stray -> {line}" in said


def test_a_package_outside_every_layer_is_refused(repository: Path, tmp_path: Path) -> None:
    copy = copied(repository, tmp_path)
    (copy / "src/holdfast/stray.py").write_text("", "utf-8")
    checked = check_imports(copy)
    assert checked.returncode == 1
    assert "stray" in checked.stdout
