import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.blocks import (
    is_answer,
    is_command,
    is_observation,
    is_output,
    output_in,
    shell_blocks,
    words_typed,
)


def test_commands_are_found_in_shell_fences() -> None:
    text = "Think.\n```bash\nls\npwd\n```\n~~~sh\nid\n~~~\n````console\n```\n````\n"
    assert shell_blocks(text) == ("ls\npwd", "id", "```")


def test_other_fences_and_open_ones_are_no_commands() -> None:
    assert shell_blocks("```python\nx\n```\n```bash\n```\n```bash\nls") == ()
    assert shell_blocks("no fence") == ()


def test_program_output_is_not_what_a_user_said() -> None:
    assert is_observation("<returncode>0</returncode>\n<output>\n</output>")
    assert is_observation("OBSERVATION:\nfiles")
    assert is_observation("listing\n(Open file: n/a)\nbash-$")
    assert is_observation("<system-reminder>be brief</system-reminder>")
    assert is_observation("[Request interrupted by user]")
    assert not is_observation("<system-reminder>be brief</system-reminder>\nfix the parser")
    assert not is_observation("What does <output> mean?")


def test_preambles_and_bare_slash_commands_are_not_what_a_user_said() -> None:
    assert is_observation("# AGENTS.md instructions for /src\n\n<INSTRUCTIONS>be brief")
    assert is_observation("<environment_context>\n<cwd>/src</cwd>\n</environment_context>")
    assert all(map(is_observation, ["/", "/mode", " /clear\n", "/model big-one"]))
    assert not is_observation("/etc/hosts is wrong")
    assert not is_observation("/review the parser and fix what you find")
    assert not is_observation("# AGENTS.md needs a section about tests")


def test_a_block_without_a_language_is_a_command_where_it_is_asked_for() -> None:
    text = "Look.\n```\nopen a.py\n```\n```python\nx\n```"
    assert shell_blocks(text) == ()
    assert shell_blocks(text, unnamed=True) == ("open a.py",)


def test_what_a_program_asks_of_its_model_is_not_what_a_user_said() -> None:
    complaint = "Please always provide EXACTLY ONE action in triple backticks, found 2 actions."
    assert is_observation(complaint)
    assert is_answer(complaint)
    assert not is_output(complaint)
    shown = "Here is a demonstration of how to correctly accomplish this task.\n$ ls"
    assert is_observation(shown)
    assert not is_answer(shown)
    assert not is_observation("Here is a demonstration of how to use our API. Describe it.")
    assert not is_observation("Tool call error: what does this mean?")
    assert not is_observation("Please always provide a test with a change.")


def test_only_a_command_is_answered_by_output() -> None:
    assert is_output("<returncode>1</returncode>\n<output>\n</output>")
    assert not is_output("/mode")
    assert not is_output("<local-command-stdout>x</local-command-stdout>")


def test_output_stands_without_its_frame() -> None:
    assert output_in("<returncode>0</returncode>\n<output>\n1 passed\n</output>") == "1 passed"
    assert output_in("OBSERVATION:\n344\n\n(Open file: n/a)\n(Current directory: /a)\nbash-$") == (
        "344"
    )
    assert output_in("<p>kept</p>") == "<p>kept</p>"


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>",
        "<session_context>\nThis is the agent. Today is Monday.\n</session_context>",
        "This is the Gemini CLI. We are setting up the context for our chat.\nToday is Monday.",
        "<user_info>\nOS: any\n</user_info>",
        "<git-context>\nthe rest of this was cut off",
        "<permissions instructions>ask first</permissions instructions>",
        "<user_shell_command>ls</user_shell_command>",
        "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nnone\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>",
        "Base directory for this skill: /skills/review\n\n# Review",
    ],
)
def test_what_agents_put_into_a_message_is_not_typed(text: str) -> None:
    assert is_observation(text)
    assert words_typed(text) == ""


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("fix the parser", "fix the parser"),
        ("<current_datetime>2026-02-03</current_datetime>\n\nfix it", "fix it"),
        ("<system-reminder>be brief</system-reminder>\nfix it", "fix it"),
        ("fix it\n<USER_SETTINGS_CHANGE>\nmodel\n</USER_SETTINGS_CHANGE>", "fix it"),
        ("<system-reminder> is in my log, why?", "<system-reminder> is in my log, why?"),
        ("why is there a </p>", "why is there a </p>"),
        ("Base directory for this skill: /r\n\nARGUMENTS: x", None),
    ],
)
def test_what_a_user_typed_stands_without_what_was_put_around_it(
    text: str, typed: str | None
) -> None:
    assert words_typed(text) == (text if typed is None else typed)
    assert not is_observation(text)


def test_of_a_prompt_that_teaches_by_an_example_the_task_is_what_a_user_typed() -> None:
    rule = "-" * 21
    text = "\n".join(
        [
            "Here's a running example of how to perform a task with the provided tools.",
            f"{rule} START OF EXAMPLE {rule}\nUSER: Draw a boat.\n{rule} END OF EXAMPLE {rule}",
            f"{rule} NEW TASK DESCRIPTION {rule}\nPaint the\nfence.",
            f"{rule} END OF NEW TASK DESCRIPTION {rule}\n\nPLEASE follow the format strictly!",
        ]
    )
    assert words_typed(text) == "Paint the\nfence."
    assert not is_observation(text)
    assert is_output("EXECUTION RESULT of [terminal]:\nfence.py")


def test_a_command_is_what_it_was_given_or_its_name() -> None:
    name = "<command-name>/review</command-name>"
    assert words_typed(f"{name}\n<command-args> the parser </command-args>") == "the parser"
    assert words_typed(f"{name}<command-args></command-args>") == "/review"
    assert is_command(name)
    assert is_command("/clear")
    assert not is_command("/etc/hosts is wrong")


@given(st.text(alphabet="<>/ \naskil", max_size=80) | st.text(max_size=80))
def test_nothing_is_made_up(text: str) -> None:
    assert words_typed(text) in text
