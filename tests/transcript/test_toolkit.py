import json

import pytest

from holdfast.transcript import Media, Text, ToolCall, ToolResult
from holdfast.transcript.toolkit import (
    Action,
    Family,
    Toolkit,
    describe,
    family,
    flat,
    headline,
    patched_files,
)


def told(name: str, arguments: dict[str, object] | str, text: str, *, failed: bool = False) -> str:
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    result = ToolResult("1", (Text(text),), is_error=failed)
    return describe(ToolCall("1", name, raw), result)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("terminal", Family.SHELL),
        ("exec_command", Family.SHELL),
        ("mcp__box__run_in_terminal", Family.SHELL),
        ("functions.shell", Family.SHELL),
        ("Read", Family.READ),
        ("read_file", Family.READ),
        ("str_replace_editor", Family.WRITE),
        ("apply_patch", Family.WRITE),
        ("MultiEdit", Family.WRITE),
        ("Grep", Family.SEARCH),
        ("search_files", Family.SEARCH),
        ("WebFetch", Family.WEB),
        ("web_search", Family.WEB),
        ("Task", Family.DELEGATE),
        ("spawn_agent", Family.DELEGATE),
        ("TodoWrite", Family.PLAN),
        ("update_plan", Family.PLAN),
        ("browser_navigate", Family.WEB),
        ("getFileInfo", Family.READ),
        ("delete_files", Family.WRITE),
        ("file_weather", Family.OTHER),
        ("get_weather", Family.OTHER),
        ("", Family.OTHER),
    ],
)
def test_tools_of_all_agents_fall_into_families(name: str, kind: Family) -> None:
    assert family(name) is kind


def test_a_shell_tells_command_exit_code_and_lines() -> None:
    assert told("bash", {"command": "make test"}, "a\nb\n") == "bash: make test (2 lines)"
    assert told("shell", {"command": ["bash", "-lc", "ls"]}, "") == "shell: ls (0 lines)"
    assert told("shell", {"command": ["ls", "-l"]}, "x") == "shell: ls -l (1 line)"
    answer = json.dumps({"output": "1\n2\n3", "exit_code": 2})
    assert told("terminal", {"command": "x"}, answer) == "terminal: x (exit 2, 3 lines)"
    assert (
        told("Bash", {"command": "x"}, "Exit code 1\nfatal: no repository here")
        == "Bash: x (exit 1, 1 line, fatal: no repository here)"
    )


def test_a_read_tells_path_range_and_size() -> None:
    ending = "(2 lines, 3 characters)"
    assert told("read", {"path": "a.py"}, "a\nb") == f"read: a.py {ending}"
    assert told("Read", {"file_path": "a.py", "offset": 10, "limit": 5}, "a\nb") == (
        f"Read: a.py lines 10-14 {ending}"
    )
    assert told("view", {"path": "a.py", "view_range": [3, 9]}, "a\nb") == (
        f"view: a.py lines 3-9 {ending}"
    )
    assert told("view", {"path": "a.py", "start_line": 4}, "a\nb") == (
        f"view: a.py lines 4- {ending}"
    )
    assert told("str_replace_editor", {"command": "view", "path": "a.py"}, "a\nb") == (
        f"str_replace_editor: a.py {ending}"
    )


def test_several_files_are_read_at_once() -> None:
    call = ToolCall("1", "read_many_files", '{"paths": ["a.py", "b.py"]}')
    assert Toolkit().action(call) == Action(
        Family.READ, "read_many_files", "a.py b.py", files=("a.py", "b.py")
    )


def test_a_write_tells_path_and_size() -> None:
    assert told("Write", {"file_path": "a.py", "content": "1\n2"}, "ok") == (
        "Write: a.py (wrote 2 lines)"
    )
    assert told("delete_file", {"path": "a.py"}, "gone") == "delete_file: a.py (4 characters)"
    patch = "*** Begin Patch\n*** Update File: src/a.py\n*** Add File: b.py\n+x\n*** End Patch"
    assert told("apply_patch", patch, "ok") == "apply_patch: src/a.py b.py (wrote 5 lines)"


def test_a_search_tells_pattern_scope_and_matches() -> None:
    assert told("Grep", {"pattern": "x", "path": "src"}, "a\n\nb") == "Grep: x in src (2 matches)"
    assert told("Glob", {"pattern": "*.py"}, "No files found") == "Glob: *.py (0 matches)"
    assert told("Grep", {"pattern": "x"}, "Found 7 files\na") == "Grep: x (7 matches)"
    assert told("ls", {"path": "src"}, "a") == "ls: src (1 match)"


def test_web_delegation_plans_and_the_unknown_tell_what_they_were_about() -> None:
    assert told("web_search", {"query": "zlib"}, "abc") == "web_search: zlib (3 characters)"
    assert told("Task", {"description": "review"}, "fine") == "Task: review (4 characters)"
    assert told("TodoWrite", {"todos": [1, 2]}, "ok") == "TodoWrite: 2 items (2 characters)"
    assert told("TaskUpdate", {"taskId": "1", "status": "done"}, "ok") == (
        "TaskUpdate: taskId=1, status=done (2 characters)"
    )
    assert told("roll", {"sides": 6, "fair": True, "of": {}}, "4") == "roll: sides=6 (1 character)"
    assert told("roll", "", "", failed=True) == "roll (failed, 0 characters)"
    assert told("roll", "[1]", "x") == "roll: input=[1] (1 character)"


def test_a_file_that_talks_about_exit_codes_has_none() -> None:
    assert told("Read", {"path": "a"}, "exit code: 1") == "Read: a (1 line, 12 characters)"


def test_a_call_may_have_no_result_and_a_result_no_words() -> None:
    call = ToolCall("1", "bash", '{"command": "sleep"}')
    assert describe(call, None) == "bash: sleep (no result)"
    assert describe(call, ToolResult("1", (Media(),))) == "bash: sleep (0 lines)"


def test_a_line_is_one_line_of_bounded_length() -> None:
    line = told("bash", {"command": "echo 'a\nb' " + "x" * 9_000}, "error: " + "y" * 9_000)
    assert "\n" not in line
    assert len(line) < 400
    assert flat("ab", 1) == "…" or len(flat("ab", 1)) <= 2


def test_users_register_their_own_tools_without_global_state() -> None:
    call = ToolCall("1", "frobnicate", '{"command": "go"}')
    result = ToolResult("1", (Text("x"),))
    mine = Toolkit({"frobnicate": Family.SHELL})
    assert mine.describe(call, result) == "frobnicate: go (1 line)"
    assert describe(call, result) == "frobnicate: command=go (1 character)"


def test_a_scope_alone_is_the_headline() -> None:
    assert headline(Action(Family.SEARCH, "ls", "", "src")) == "ls: src"
    assert headline(Action(Family.OTHER, "x", "")) == "x"


def test_patches_name_their_files() -> None:
    assert patched_files("--- a/x.py\n+++ b/x.py\t2020\n+++ /dev/null\n") == ("x.py",)
    assert patched_files("nothing here") == ()


def test_numbers_that_are_no_lines_are_ignored() -> None:
    call = ToolCall("1", "Read", json.dumps({"path": "a", "offset": "9" * 5_000, "limit": 2}))
    assert Toolkit().action(call).scope == "1-2"


def test_a_call_to_the_web_without_an_address_is_told_by_its_arguments() -> None:
    call = ToolCall("c", "web_fetch", '{"depth": 3}')
    assert "depth=3" in Toolkit().describe(call, None)
