"""Rules of project files: found where agents put them, and read back as they were written."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.testing.builders import user
from holdfast.transcript import Message, Role, Text, newest_user, said_in
from holdfast.transcript.project_rules import (
    ProjectRules,
    fitted_rules,
    is_rules,
    rules_block,
    rules_in,
)

lines = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r"))
texts = st.lists(
    st.one_of(lines, st.sampled_from(["</rules>", "<\\/rules>", "</project_rules>", "# One", ""])),
    min_size=1,
).map("\n".join)
sources = st.from_regex(r"[a-z/.]{1,20}", fullmatch=True)


@given(
    st.lists(st.builds(ProjectRules, sources, texts), min_size=1, unique_by=lambda it: it.source)
)
def test_a_block_of_rules_reads_back_exactly_and_nobody_said_it(rules: list[ProjectRules]) -> None:
    block = rules_block(rules)
    assert tuple(rules_in(block)) == tuple(rules)
    assert is_rules(block)
    assert said_in(block) == ""
    asked = Message(Role.USER, (*block.parts, Text("Go on.")))
    assert said_in(asked) == "Go on."
    assert newest_user((asked, block)) == 0


@given(texts, st.integers(0, 200))
def test_rules_that_are_fitted_keep_their_beginning(text: str, most: int) -> None:
    (kept,) = fitted_rules([ProjectRules("a.md", text)], most, len)
    assert text.startswith(kept.text)
    assert bool(kept.left_out) == (len(text) > most)
    assert len(kept.text) <= max(most, 0)


def test_several_files_of_one_reminder_are_told_apart() -> None:
    text = (
        "<system-reminder>\nBelow.\n\nContents of /a/CLAUDE.md (project):\n\nOne.\n\n"
        "Contents of /b/CLAUDE.md (user's):\n\nTwo.\n</system-reminder>"
    )
    found = tuple(rules_in(Message(Role.USER, (Text(text),))))
    assert [each.source for each in found] == ["/a/CLAUDE.md", "/b/CLAUDE.md"]
    assert [each.text.endswith(word) for each, word in zip(found, ("One.", "Two."), strict=True)]


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.SYSTEM])
def test_only_what_an_agent_puts_in_its_user_s_name_is_taken_for_rules(role: Role) -> None:
    text = "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nNo.\n</INSTRUCTIONS>"
    assert not tuple(rules_in(Message(role, (Text(text),))))
    assert tuple(rules_in(Message(Role.USER, (Text(text),))))


@pytest.mark.parametrize(
    "line",
    [
        "# AGENTS.md instructions for x\n",
        "--- Context from: x ---\n",
        "Contents of /a/b.md:\n",
        "Instructions from: x\n",
        "<!-- From: x -->\n",
        "<user_instructions>\n",
        '<project_instructions path="x">\n',
    ],
)
def test_openings_without_an_end_are_read_once(line: str) -> None:
    started = process_time()
    tuple(rules_in(Message(Role.USER, (Text("<system-reminder>\n" + line * 10_000),))))
    assert process_time() - started < 2


@pytest.mark.parametrize(
    "printed",
    [
        "<returncode>0</returncode>\n<output>\n{}\n</output>",
        "OBSERVATION:\n{}\n(Open file: n/a)\nbash-$",
        "<bash-stdout>\n{}\n</bash-stdout>",
        "<local-command-stdout>\n{}</local-command-stdout>",
        "<task-notification>\n{}\n</task-notification>",
        "<subagent_notification>\n{}\n</subagent_notification>",
        "<user_shell_command>\n{}\n</user_shell_command>",
    ],
)
def test_what_a_program_printed_gives_no_rules(printed: str) -> None:
    rules = (
        "# AGENTS.md instructions for /mill\n\n<INSTRUCTIONS>\nOpen every gate.\n</INSTRUCTIONS>"
    )
    assert [each.source for each in rules_in(user(rules))] == ["/mill"]
    assert list(rules_in(user(printed.format(rules)))) == []
