"""The edge of the program: help for everything, sentences for what goes wrong."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from holdfast import __version__
from holdfast.cli.memory import SUBCOMMANDS as MEMORY_COMMANDS
from holdfast.cli.root import COMMANDS, root
from holdfast.cli.sessions import SUBCOMMANDS as SESSION_COMMANDS
from holdfast.cli.sessions import command as sessions
from tests.cli.running import REPOSITORY, SESSION, launch, run

assert isinstance(root, click.Group)
CONTEXT = click.Context(root)
GROUPS = {
    "config": ("show", "path", "init"),
    "gateway": ("explain",),
    "sessions": tuple(SESSION_COMMANDS),
    "memory": tuple(MEMORY_COMMANDS),
    "models": ("list", "pull"),
    "token": ("add", "list", "revoke"),
    "trajectories": ("compress",),
}
SUBCOMMANDS = [(group, name) for group, names in GROUPS.items() for name in names]
EVERY = [*((name,) for name in COMMANDS), *SUBCOMMANDS]


def test_the_version_is_the_package_s() -> None:
    assert run("--version").text == f"holdfast {__version__}\n"


def test_the_overview_says_what_each_command_says_of_itself() -> None:
    loaded = {name: root.get_command(CONTEXT, name) for name in COMMANDS}
    first = {name: (each.help or "").partition("\n")[0] for name, each in loaded.items() if each}
    assert first == COMMANDS


def test_the_overview_of_sessions_says_what_each_command_says_of_itself() -> None:
    loaded = {name: sessions.get_command(CONTEXT, name) for name in SESSION_COMMANDS}
    first = {name: (each.help or "").partition("\n")[0] for name, each in loaded.items() if each}
    assert first == SESSION_COMMANDS


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_every_help_has_examples_that_name_the_command(command: tuple[str, ...]) -> None:
    examples = run(*command, "--help").text.partition("Examples:\n")[2]
    assert f"holdfast {' '.join(command)}" in examples


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_the_documentation_has_the_help_of_every_command(command: tuple[str, ...]) -> None:
    page = (REPOSITORY / "docs" / "reference" / "cli.md").read_text("utf-8")
    help_text = run(*command, "--help").text.rstrip()
    assert f"holdfast {' '.join(command)}\n" in page
    assert help_text in page


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_every_command_has_json(command: tuple[str, ...]) -> None:
    # What `run` prints is the agent's.
    if " ".join(command) not in {*GROUPS, "run"}:
        assert "--json" in run(*command, "--help").text


def test_help_imports_neither_rich_nor_yaml_nor_any_command() -> None:
    probe = (
        "import sys, holdfast.cli.root as it\n"
        "try: it.root(['--help'])\n"
        "except SystemExit: pass\n"
        "slow = {'rich', 'yaml', 'holdfast.wire', 'holdfast.cli.compress'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[-1] == "[]"


def test_a_misspelled_command_gets_the_nearest_one() -> None:
    ended = run("comprss")
    assert (ended.code, ended.errors) == (
        2,
        "holdfast: there is no command 'comprss'; did you mean compress?\nTry: holdfast --help\n",
    )


def test_a_command_that_is_near_nothing_is_a_usage_error() -> None:
    assert run("zzz").code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compress", "missing.json"), "cannot read missing.json: there is no such file"),
        (("inspect", "missing.json"), "cannot read missing.json: there is no such file"),
        (("validate", "missing.json", "--provider", "openai"), "cannot read missing.json"),
        (("redact", "missing.txt"), "cannot read missing.txt: there is no such file"),
        (("compress", "/"), "cannot read /: it is a folder; name a file"),
        (("inspect", "-"), "standard input is empty"),
        (("compress", "-"), "standard input is empty"),
        (("compress", str(SESSION), "-o", "/dev/full"), "cannot write /dev/full: no space left"),
        (("compress", str(SESSION), "-o", "/no/such/x.json"), "cannot write /no/such/x.json"),
        (("compress", str(SESSION), "-o", "x", "--report", "/no/such/x.json"), "cannot write /no"),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    arguments: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(*arguments)
    last = ended.errors.splitlines()[-1]
    assert (ended.code, last.startswith("holdfast: ")) == (1, True)
    assert words in last
    assert "Traceback" not in ended.errors


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\x00\x01", b"{", b'{"a": 1}', b"[1]", b"null"])
@pytest.mark.parametrize("command", ["compress", "inspect", "validate"])
def test_a_file_that_is_no_transcript_is_named(
    command: str, content: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "odd.json"
    file.write_bytes(content)
    options = ["--provider", "openai"] if command == "validate" else []
    ended = run(command, str(file), *options)
    assert ended.code == 1
    assert ended.errors.startswith(f"holdfast: {file}: ")
    assert ended.errors.count("\n") == 1


def test_a_broken_configuration_is_a_sentence_in_every_command(home: Path) -> None:
    (home / "config.yaml").write_text("compression: {threshold: 9}", "utf-8")
    for arguments in (["compress", str(SESSION)], ["inspect", str(SESSION)], ["redact"]):
        ended = run(*arguments)
        assert ended.code == 1
        assert ended.errors.startswith("holdfast: compression.threshold is 9 (")


def test_the_process_has_the_exit_code_and_no_traceback() -> None:
    ended = launch("compress", "missing.json")
    assert (ended.code, ended.output) == (1, b"")
    assert ended.errors == ("holdfast: cannot read missing.json: there is no such file or folder\n")


def test_debugging_shows_where_it_happened() -> None:
    ended = launch("inspect", "missing.json", env={"HOLDFAST_DEBUG": "1"})
    assert "Traceback" in ended.errors
    assert ended.errors.splitlines()[-1].startswith("holdfast: cannot read missing.json")


@pytest.mark.parametrize(
    "arguments", [["compress", str(SESSION)], ["inspect", str(SESSION), "--messages"], ["sample"]]
)
def test_a_reader_that_goes_away_is_no_error(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "holdfast.cli", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        errors = process.stderr.read().decode()
    assert "Traceback" not in errors
    assert "Exception" not in errors
    assert process.returncode == 1


@pytest.mark.parametrize("arguments", [["inspect", str(SESSION)], ["compress", str(SESSION)]])
def test_a_full_disk_behind_standard_output_is_a_sentence(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "holdfast.cli", *arguments]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    errors = done.stderr.decode()
    assert (done.returncode, "Traceback" in errors, "no space left" in errors) == (1, False, True)


def test_an_unexpected_error_asks_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("holdfast.cli.inspect.open_input", fail)
    ended = run("inspect", "x")
    assert ended.code == 1
    assert ended.errors.startswith("holdfast: an unexpected ZeroDivisionError: by nothing. ")
    assert "please report it" in ended.errors


def test_an_interrupt_ends_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.cli.inspect.open_input", interrupt)
    ended = run("inspect", "x")
    assert (ended.code, ended.errors.strip()) == (130, "holdfast: interrupted")


def test_the_shell_can_complete_commands() -> None:
    ended = launch(
        env={"_HOLDFAST_COMPLETE": "bash_complete", "COMP_WORDS": "holdfast in", "COMP_CWORD": "1"}
    )
    assert ended.text.split() == ["plain,inspect"]


def test_a_terminal_without_unicode_gets_question_marks() -> None:
    ended = launch("inspect", str(SESSION), env={"PYTHONIOENCODING": "ascii", "COLUMNS": "80"})
    assert ended.code == 0
    assert ended.output.isascii()
    assert os.linesep.encode() in ended.output


@pytest.mark.parametrize("arguments", [(), ("config",), ("sessions",)])
def test_a_command_without_its_command_shows_the_help_and_nothing_else(
    arguments: tuple[str, ...],
) -> None:
    ended = run(*arguments)
    assert (ended.code, ended.errors) == (2, run(*arguments, "--help").text)


@pytest.mark.parametrize("digits", [20, 5_000])
def test_a_number_that_is_too_large_is_told_its_limit(digits: int) -> None:
    ended = run("inspect", str(SESSION), "--context-length", "9" * digits)
    assert ended.code == 2
    assert ended.errors.splitlines()[0].endswith("is not a whole number from 1000 to 1000000000")
    assert len(ended.errors) < 200


def test_a_name_with_a_line_break_stays_on_one_line() -> None:
    for command in (["inspect"], ["compress"], ["validate", "--provider", "openai"]):
        assert run(*command, "no\nsuch").errors == (
            "holdfast: cannot read no such: there is no such file or folder\n"
        )


def test_a_home_that_is_a_file_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "home"
    file.write_text("", "utf-8")
    for command in (["inspect", str(SESSION)], ["config", "show"], ["config", "init"]):
        ended = run(*command, env={"HOLDFAST_HOME": str(file)})
        assert (ended.code, ended.errors) == (
            1,
            f"holdfast: the home directory {file} is not a folder\n",
        )


@pytest.mark.parametrize("command", ["compress", "inspect", "validate"])
def test_a_number_with_too_many_digits_is_a_sentence(command: str) -> None:
    content = f'[{{"role": "user", "content": "hi", "seed": {"9" * 5_000}}}]'.encode()
    options = ["--provider", "openai"] if command == "validate" else []
    ended = run(command, "-", *options, stdin=content)
    assert (ended.code, ended.errors) == (
        1,
        "holdfast: standard input: json: the file: a number has more digits than can be read\n",
    )


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a user whom the system does not know, without a home folder."""

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    for name in ("HOME", "HOLDFAST_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("homeless")
def test_what_needs_a_home_folder_says_so_where_there_is_none(tmp_path: Path) -> None:
    for command in (("sessions", "list"), ("search", "x"), ("import", str(SESSION))):
        ended = run(*command)
        assert ended.code == 1
        assert "there is no home folder; set HOLDFAST_HOME" in ended.errors
    assert "set HOME, or name files to import" in run("import").errors
    kept = {"HOLDFAST_HOME": str(tmp_path)}
    assert run("import", str(SESSION), env=kept).code == 0


@pytest.mark.usefixtures("homeless")
def test_what_needs_no_home_folder_works_without() -> None:
    for command in (("sample",), ("redact", str(SESSION)), ("inspect", str(SESSION))):
        assert run(*command).code == 0, command
    assert run("compress", str(SESSION), "--fit", "4000").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("search", "x", "--limit", "many"), "many is not a whole number from 1 to 1000"),
        (("serve", "--port", "x"), "x is not a whole number"),
        (("import", "--interval", "0"), "0.0 is not a number from 0.1 on"),
        (("trajectories", "compress", "--rate", "often"), "often is not a number"),
    ],
)
def test_a_number_that_cannot_be_meant_is_told_which_is_wanted(
    arguments: tuple[str, ...], words: str
) -> None:
    ended = run(*arguments)
    assert (ended.code, ended.errors.splitlines()[0].split(": ", 2)[2]) == (2, words)


def test_a_usage_error_is_one_line() -> None:
    said, hint = run("validate", "x.json").errors.splitlines()
    assert said == (
        "holdfast: Missing option '--provider'. Choose from: openai, responses, anthropic, gemini"
    )
    assert hint == "Try: holdfast validate --help"
