"""Own words: what a user said, out of the pages that a command was expanded into."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.memory import is_bare_command, own_words

BODY = "# Reviewing\n\nRead everything first. ARGUMENTS are optional.\n\n" + "Be thorough. " * 60
FOLDER = "Base directory for this skill: /home/me/skills/review\n\n"
INVOKED = '[IMPORTANT: The user has invoked the "review" skill, so follow it.]'
ALONGSIDE = "The user has provided the following instruction alongside the skill invocation: "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
            "<command-args> the parser\n  only</command-args>",
            "the parser\n  only",
        ),
        (
            "<command-name>/theme</command-name>\n   <command-message>theme</command-message>\n"
            "   <command-args></command-args>",
            "/theme",
        ),
        (
            "<command-name>test</command-name><command-args>--all</command-args>"
            f"<command-contents>{BODY}</command-contents>",
            "--all",
        ),
        (f"<command-name>/review</command-name>\n{FOLDER}{BODY}", "/review"),
        ("<command-name>/fix</command-name>\nThe build.", "The build."),
        (f"{FOLDER}{BODY}\n\n\nARGUMENTS: the parser", "the parser"),
        (f"{FOLDER}{BODY}", "/review"),
        (f"{BODY}\n\nARGUMENTS: the parser", "the parser"),
        (f'<skill name="review" location="/s">\n{BODY}\n</skill>\n\nthe parser', "the parser"),
        (f"<skill>\n<name>review</name>\n{BODY}</skill>", "/review"),
        (f"<skill>{BODY}</skill>", ""),
        (f"{INVOKED}\n\n{BODY}\n\n{ALONGSIDE}the parser", "the parser"),
        (f"{INVOKED}\n{BODY}\n{ALONGSIDE}the parser\n\n[Runtime note: at noon]", "the parser"),
        (f"{INVOKED}\n\n{BODY}", "/review"),
        (
            '[SYSTEM: The user has invoked the "care" skill bundle, which has 2 skills.]\n'
            f'User instruction: the parser\n\n[Loaded as part of the "care" bundle]\n{BODY}',
            "the parser",
        ),
    ],
)
def test_an_expansion_is_reduced_to_what_the_user_said(text: str, words: str) -> None:
    assert own_words(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "Review the parser.",
        "The usage line says:\n\nARGUMENTS: file",
        "<command-args>no name</command-args>",
        "<skills are fun",
        "What does <command-name> mean?",
        "",
    ],
)
def test_other_words_stay_as_they_are(text: str) -> None:
    assert own_words(text) == text


@given(
    words=st.text(st.characters(exclude_characters="<[\n", exclude_categories=("Cs",)), min_size=1)
)
def test_the_instruction_comes_through_word_for_word(words: str) -> None:
    said = words.strip()
    expanded = f"<command-name>/x</command-name><command-args>{words}</command-args>"
    assert own_words(expanded) == (said or "/x")
    assert own_words(f"{FOLDER}{BODY}\n\n\nARGUMENTS: {words}") == (said or "/review")


def test_a_command_alone_says_nothing_to_remember() -> None:
    assert [is_bare_command(each) for each in ("/review ", "/a:b-c", "/fix it", "fix")] == [
        True,
        True,
        False,
        False,
    ]


def test_real_expansions_are_reduced(shared: Path) -> None:
    """No body of a skill is taken for what the user said."""
    folder = shared / "data" / "sessions" / "claude_code"
    found: list[str] = []
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            if "Base directory for this skill: " in line or "<command-name>" in line:
                content = json.loads(line).get("message", {}).get("content", "")
                texts = (
                    [content]
                    if isinstance(content, str)
                    else [part.get("text", "") for part in content if isinstance(part, dict)]
                )
                found += [
                    own_words(text)
                    for text in texts
                    if text.startswith(("Base directory", "<command-"))
                ]
    assert len(found) > 10
    assert max(map(len, found)) < 1_000
    assert not [each for each in found if "Base directory" in each or "<command-" in each]
