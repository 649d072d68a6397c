"""The file is read with its lines, and whatever is wrong with it is named."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.config import FileOrigin, Setting
from holdfast.config.loading import read_file
from holdfast.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def refusal(file: Path, text: str) -> str:
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_file(file)
    return str(caught.value)


def test_a_file_that_is_not_there_sets_nothing(file: Path) -> None:
    assert read_file(file) == ()


@pytest.mark.parametrize("text", ["", "# nothing\n", "model:\n", "---\n", "model: {}\n"])
def test_an_empty_file_sets_nothing(file: Path, text: str) -> None:
    file.write_text(text, "utf-8")
    assert read_file(file) == ()


def test_settings_remember_their_lines(file: Path) -> None:
    file.write_text(
        "\ufeffmodel: {name: gpt-6}\ncompression:\n  threshold: 0.7\n"
        "auxiliary:\n  compression:\n    timeout: 30\nredaction:\n  extra_patterns:\n    - AC-x\n",
        "utf-8",
    )
    assert read_file(file) == (
        Setting("model.name", "gpt-6", FileOrigin(file, 1)),
        Setting("compression.threshold", 0.7, FileOrigin(file, 3)),
        Setting("auxiliary.compression.timeout", 30.0, FileOrigin(file, 6)),
        Setting("redaction.extra_patterns", ("AC-x",), FileOrigin(file, 8)),
    )


def test_a_value_that_is_not_allowed_is_refused_with_its_line(file: Path) -> None:
    assert refusal(file, "compression:\n  # high\n  threshold: 7\n") == (
        f"compression.threshold is 7 ({file}, line 3); allowed: a number over 0 and up to 1"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("compression:\n  thresholdx: 0.5\n", "line 2); did you mean compression.threshold?"),
        ("gateway: {prot: 8787}\n", "line 1); did you mean gateway.port?"),
        ("model: gpt-6\n", "line 1) holds no keys; allowed: name, provider, base_url"),
        ("- model\n", "the file ("),
        ("model:\n  name: a\n  name: b\n", "model.name is set twice"),
        ("model: {? [a] : b}\n", "has a key that is not a name"),
        ("model: {name: !!python/object:os.system x}\n", "line 1: not valid YAML"),
        ("model: [\n", "not valid YAML"),
        ("model: {name: 2020-13-45}\n", "not valid YAML"),
        ("a: 1\n---\nb: 2\n", "not valid YAML"),
        ("\x00", "not valid YAML"),
        ("[" * 5000, "not valid YAML"),
        ("<<: {model: {name: x}}\n", "there is no setting <<"),
    ],
)
def test_what_is_wrong_is_named(file: Path, text: str, words: str) -> None:
    assert words in refusal(file, text)


def test_a_file_that_is_not_utf_8_is_refused(file: Path) -> None:
    file.write_bytes(b"model:\xff")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        read_file(file)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_file(tmp_path)


@given(st.text(st.sampled_from("model:name {}[]!&*#|>-'\"\n\t0.a"), max_size=40))
def test_no_text_makes_the_reader_fail_in_another_way(text: str) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder, "config.yaml")
        file.write_text(text, "utf-8")
        try:
            assert all(isinstance(each, Setting) for each in read_file(file))
        except ConfigError as error:
            assert str(file) in str(error)  # noqa: PT017 - either ending is allowed
