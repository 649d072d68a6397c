"""`holdfast redact`: secrets are masked, everything else comes out as it went in."""

import json
from pathlib import Path

import pytest

from holdfast import redact
from tests.cli.running import run

SECRET = "sk-ant-api03-" + "Zx9kQ2mP7vLw4RtY8nB3cF6hJ1dS5gA0" * 2


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_is_redacted(arguments: list[str]) -> None:
    text = f"key {SECRET} end\n"
    ended = run("redact", *arguments, stdin=text.encode())
    assert (ended.code, ended.text) == (0, redact(text))
    assert SECRET not in ended.text


def test_a_file_is_redacted(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text(f"Authorization: Bearer {SECRET}", "utf-8")
    assert SECRET not in run("redact", str(file)).text


def test_bytes_that_are_not_text_come_out_as_they_went_in() -> None:
    content = b"\xff\xfe\x00 r\xc3\xa9sum\xc3\xa9 \x80\r\n\n"
    assert run("redact", stdin=content).output == content


def test_nothing_in_is_nothing_out() -> None:
    ended = run("redact", stdin=b"")
    assert (ended.code, ended.output, ended.errors) == (0, b"", "")


def test_code_keeps_what_only_a_name_makes_a_secret() -> None:
    line = 'password = "Xk92mQp7Lw3z"\n'
    assert run("redact", "--code", stdin=line.encode()).text == redact(line, code_file=True)


def test_json_holds_the_text_and_whether_it_changed() -> None:
    ended = run("redact", "--json", stdin=SECRET.encode())
    assert json.loads(ended.output) == {"text": redact(SECRET), "changed": True}
    assert json.loads(run("redact", "--json", stdin=b"calm").output) == {
        "text": "calm",
        "changed": False,
    }


def test_patterns_of_the_user_count(home: Path) -> None:
    (home / "config.yaml").write_text("redaction: {extra_patterns: ['ACME-[0-9]{6}']}", "utf-8")
    assert "ACME-123456" not in run("redact", stdin=b"ticket ACME-123456 closed").text
