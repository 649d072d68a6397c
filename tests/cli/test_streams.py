"""Standard streams that are closed or cannot show everything: a sentence, never a traceback."""

import subprocess
import sys

import pytest

from tests.cli.running import SESSION, Ended, launch

PROBE = """
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "holdfast.cli.root":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
from holdfast.cli import main
main()
"""


def shell(line: str) -> Ended:
    """Run a line of shell in which `$HOLDFAST` is the command and `$SESSION` a transcript."""
    done = subprocess.run(
        ["sh", "-c", line.replace("$HOLDFAST", f"{sys.executable} -m holdfast.cli")],
        env={"SESSION": str(SESSION), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        timeout=100,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr.decode())


@pytest.mark.parametrize(
    "arguments", ["inspect $SESSION", "compress $SESSION", "redact $SESSION", "doctor --json"]
)
def test_a_closed_standard_output_is_a_sentence(arguments: str) -> None:
    ended = shell(f"$HOLDFAST {arguments} >&-")
    assert ended.code == 1
    assert ended.errors.endswith("holdfast: cannot write standard output: it is closed\n")
    assert "bug" not in ended.errors


@pytest.mark.parametrize("arguments", ["inspect -", "compress -", "redact"])
def test_a_closed_standard_input_is_a_sentence(arguments: str) -> None:
    assert shell(f"$HOLDFAST {arguments} <&-") == Ended(
        1, b"", "holdfast: cannot read standard input: it is closed\n"
    )


def test_a_closed_standard_error_stops_nothing() -> None:
    assert shell("$HOLDFAST compress $SESSION 2>&-").output.startswith(b"[")
    assert shell("$HOLDFAST inspect missing.json 2>&-") == Ended(1, b"", "")


def test_what_needs_no_standard_output_works_without_it() -> None:
    assert shell("$HOLDFAST compress $SESSION -o /dev/null >&-").code == 0


def test_an_interrupt_while_modules_are_imported_ends_quietly() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_colors_on_a_terminal_without_unicode_get_question_marks() -> None:
    env = {"PYTHONIOENCODING": "ascii", "FORCE_COLOR": "1", "TERM": "xterm"}
    ended = launch("inspect", str(SESSION), env=env)
    assert (ended.code, ended.output.isascii(), ended.errors) == (0, True, "")
    assert b"???" in ended.output
