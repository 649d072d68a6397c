import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript import Text, ToolResult
from holdfast.transcript.effects import Effect, Family, effect, effect_of_text, error_line


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<returncode>3</returncode>\n<output>x</output>", 3),
        ("Exit code 1\nboom", 1),
        ("Wall time: 1s\nProcess exited with code 0\nOutput:", 0),
        ("x\n[Command finished with exit code -9]", -9),
        ("x\n\nCommand exited with code 2", 2),
        ("exit status 4", 4),
        ("Command: make\nOutput: x\nError: (none)\nExit Code: 2\nSignal: (none)", 2),
        ('{"output": "", "metadata": {"exit_code": 5}}', 5),
        ("on return\n" * 40 + "\n [** returnCode: 7", 7),
        ("exit 1 code\n" * 9 + "\n [** Exit_code: 7", 7),
        ("no news", None),
        ("the code was reviewed", None),
    ],
)
def test_exit_codes_are_read_as_agents_write_them(text: str, code: int | None) -> None:
    assert effect_of_text(text).exit_code == code


def test_only_a_shell_has_exit_codes() -> None:
    result = ToolResult("1", (Text("Exit code 1"),))
    assert effect(result, Family.SHELL) == Effect("", 1, failed=True)
    assert effect(result, Family.READ) == Effect("Exit code 1")


def test_a_result_that_is_an_error_failed() -> None:
    assert effect(ToolResult("1", (Text("x"),), is_error=True), Family.SHELL).failed
    assert effect(ToolResult("1", (Text("x"),), is_error=True), Family.WEB).failed


@pytest.mark.parametrize(
    "last",
    [
        "Command aborted",
        "Command timed out after 120 seconds",
        "The command 'make' was cancelled because it took more than 30 seconds.",
        "[Request interrupted by user]",
        "aborted by user after 3s",
    ],
)
def test_a_command_that_was_stopped_failed(last: str) -> None:
    assert effect_of_text(f"2 boats counted\n\n{last}\n").failed
    assert effect_of_text(last).failed
    assert not effect_of_text(f"{last}\n2 boats counted").failed
    assert not effect_of_text(f"{last}\nexit status 0").failed


def test_a_program_that_tells_of_others_that_were_stopped_did_not_fail() -> None:
    assert not effect_of_text("ran 9\ncancelled 0").failed
    assert not effect_of_text("3 of 9 requests timed out").failed
    assert not effect_of_text("Cancelled orders are refunded now").failed
    assert not effect_of_text("open\npaid\ncancelled").failed
    assert not effect_of_text("The process is killed after 30 seconds.").failed
    assert effect_of_text("2 boats\nKilled").failed


@pytest.mark.parametrize(
    "answer",
    [
        "ERROR:\nNo replacement was performed, the words are not in /boat/keel.c.",
        "Error: string not found",
        '{"error": "no such file"}',
        '{"success": false, "error": "no match"}',
        "No replacement was performed.",
        "apply_patch verification failed: no such lines in keel.c",
        "Failed to edit, could not find the string to replace.",
    ],
)
def test_a_tool_that_answers_with_an_error_failed(answer: str) -> None:
    assert effect(ToolResult("1", (Text(answer),)), Family.WRITE).failed


def test_what_a_file_says_of_errors_is_no_failure_of_reading_it() -> None:
    def fails(text: str, kind: Family) -> bool:
        return effect(ToolResult("1", (Text(text),)), kind).failed

    assert fails("Error: no such file", Family.READ)
    assert not fails("Error: no such boat\n" * 40, Family.READ)
    assert not fails("Failed boats and how they were mended", Family.READ)
    assert not fails("1\tError: no such boat", Family.READ)
    assert not fails("# Error\n\nWhat it means.", Family.READ)
    assert not fails("error:\n  code: 5\n", Family.READ)
    assert not fails('{"error": "not found"}', Family.READ)
    assert not fails("Error: TypeError in boat.js, 12 events", Family.OTHER)
    assert fails('{"error": "no such boat"}', Family.OTHER)
    assert not fails('{"error": null, "boats": 3}', Family.OTHER)
    assert not fails("errors.py was written\nError: none", Family.WRITE)
    assert not fails("Error: is a word that this page explains", Family.WEB)


def test_json_envelopes_are_opened() -> None:
    assert effect_of_text('{"output": "a\\nb"}') == Effect("a\nb")
    assert effect_of_text('{"output": 3, "stdout": "x"}').text == "x"
    assert effect_of_text('{"output": 3}').text == '{"output": 3}'
    assert effect_of_text('{"output": broken').text == '{"output": broken'
    assert effect_of_text('{"other": 1}').text == '{"other": 1}'


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (
            "Command: make\nDirectory: (root)\nOutput: a\nERROR: no key\nError: (none)\n"
            "Exit Code: 1\nSignal: (none)\nProcess Group PGID: (none)",
            "a\nERROR: no key",
        ),
        (
            "<untrusted_context>\nOutput: a\nExit Code: 1\nb\nProcess Group PGID: 7\n"
            "</untrusted_context>",
            "a\nExit Code: 1\nb",
        ),
        ("Command: make\nError: boom", "Command: make\nError: boom"),
        ("The Output: a", "The Output: a"),
    ],
)
def test_the_output_of_a_command_stands_without_what_an_agent_tells_of_it(
    text: str, output: str
) -> None:
    assert effect_of_text(text).text == output


def test_lines_are_counted_without_the_last_break() -> None:
    assert [Effect(text).lines for text in ("", "\n", "a", "a\n", "a\nb")] == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "Exit code 2\nboom",
        "boom\n\n\nCommand exited with code 2",
        "boom\n[The command completed with exit code 2.]\n[Current working directory: /boat]\n"
        "[Python interpreter: /usr/bin/python]\n[Command finished with exit code 2]",
        "<returncode>2</returncode>\nboom",
    ],
)
def test_what_an_agent_says_of_the_end_of_a_command_is_not_its_output(text: str) -> None:
    assert effect_of_text(text) == Effect("boom", 2, failed=True)


def test_what_a_program_says_of_its_end_stays() -> None:
    text = (
        "Finished 9 boats\nExit code 2 means that the keel is missing\ncompleted 9\nexit status 0"
    )
    assert effect_of_text(text).text == text.removesuffix("\nexit status 0")


def test_a_line_that_announces_an_error_stands_with_the_line_below_it() -> None:
    text = "CMake Error at Boats.txt:28 (find_keel):\n\n  No file is called keel.cmake.\n-- Stopped"
    wanted = "CMake Error at Boats.txt:28 (find_keel): No file is called keel.cmake."
    assert error_line(text) == wanted
    assert error_line("fatal error:") == "fatal error:"


def test_a_warning_is_no_error() -> None:
    assert error_line("E: No package boat\nW: Some files failed to load.") == "E: No package boat"
    assert error_line("npm warn the old error: is here") == ""


def test_the_last_error_line_names_the_error() -> None:
    text = "Traceback\n  File x\nKeyError: 'a'\n\nValueError: bad\n  done"
    assert error_line(text) == "ValueError: bad"
    assert error_line("error: early\n" + "fine\n" * 2_000) == "error: early"
    assert error_line("all good") == ""


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "src/a.ts(5,15): error TS2305: no member 'Theme'.\n"
            "src/b.ts(9,2): error TS2554: Expected 1 argument.\n"
            "npm error Lifecycle script `build` failed with error:\nnpm error path /srv/app\n",
            "src/a.ts(5,15): error TS2305: no member 'Theme'.",
        ),
        (
            "src/a.ts:3:5 - error TS2322: no string.\nFound 1 error.\nnpm ERR! code ELIFECYCLE\n",
            "src/a.ts:3:5 - error TS2322: no string.",
        ),
        (
            "main.c:3:5: error: unknown type name 'strin'\nmake: *** [Makefile:9: all] Error 1\n",
            "main.c:3:5: error: unknown type name 'strin'",
        ),
        ("building\nmake: *** [Makefile:9: all] Error 1\n", "make: *** [Makefile:9: all] Error 1"),
        ("KeyError: 'a'\nCommand exited with code 1 after an error", "KeyError: 'a'"),
    ],
)
def test_the_cause_goes_before_what_a_runner_says_of_it(text: str, error: str) -> None:
    assert error_line(text) == error


@given(
    st.lists(
        st.sampled_from(
            ["ok", "E   assert 1", "ValueError: x", "no errors", "failed: 3", "cannot open", "  "]
        ),
        max_size=12,
    )
)
def test_the_error_of_an_answer_is_that_of_its_last_line_that_has_one(lines: list[str]) -> None:
    alone = [found for line in lines if (found := error_line(line))]
    assert error_line("\n".join(lines)) == (alone[-1] if alone else "")


@pytest.mark.parametrize(
    "preamble",
    [
        "Chunk ID: 7a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n",
        "Command: /bin/sh -c 'make\ntest'\nChunk ID: 7a\nProcess exited with code 0\nOutput:\n",
        "Exit code: 0\nWall time: 0 seconds\nTotal output lines: 3\nOutput:\n",
    ],
)
def test_what_stands_above_an_output_is_not_part_of_it(preamble: str) -> None:
    assert effect_of_text(f"{preamble}three boats") == Effect("three boats", 0)
    assert effect_of_text("Process the boats\nOutput:\nx").text == "Process the boats\nOutput:\nx"
