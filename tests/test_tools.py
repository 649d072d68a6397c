"""The linter and the type checker are as strict as the house says: each has been seen to object."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDERS = ("src", "tests", "bench", "docs")

SPRAWLING = """
def sprawling(one, two, three, four, five, six, loud=False):
    try:
        one._private()
    except Exception:
        pass
""" + "".join(f"    if two == {number}:\n        three = {number}\n" for number in range(30))

UNTYPED = "def weigh(message):\n    return len(message)\n"


@pytest.fixture
def project(repository: Path, tmp_path: Path) -> Path:
    shutil.copy(repository / "pyproject.toml", tmp_path)
    for folder in FOLDERS:
        (tmp_path / folder).mkdir()
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def run(tool: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", tool, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_linter_refuses_what_is_too_large_and_what_hides_errors(project: Path) -> None:
    (project / "src/sprawling.py").write_text(SPRAWLING, "utf-8")
    checked = run("ruff", "check", "--output-format=json", "src", folder=project)
    codes = {finding["code"] for finding in json.loads(checked.stdout)}
    assert codes >= {"BLE001", "C901", "D100", "FBT002", "PLR0913", "PLR0915", "SLF001"}


def test_the_type_checker_refuses_a_function_without_types(project: Path) -> None:
    for folder in FOLDERS:
        (project / folder / "untyped.py").write_text(UNTYPED, "utf-8")
    checked = run("basedpyright", "--outputjson", folder=project)
    assert checked.returncode == 1, checked.stdout + checked.stderr
    found = json.loads(checked.stdout)["generalDiagnostics"]
    refused = {
        Path(each["file"]).parent.name
        for each in found
        if each.get("rule") == "reportMissingParameterType"
    }
    assert refused == set(FOLDERS)
