from holdfast.transcript.blocks import is_observation, is_output, output_in, shell_blocks


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
