from holdfast.transcript.blocks import is_observation, shell_blocks


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
