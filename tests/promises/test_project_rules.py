"""Rules that agents put into a conversation in their user's name outlive every compaction."""

import asyncio
import json
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import pytest

import holdfast
from holdfast.gateway.tree_file import TreeFile
from holdfast.gateway.turns import TurnKeeper
from holdfast.recognition.request import read_request
from holdfast.wiring.registry import Conversations

WINDOW = 6_000
RULES = (
    "# House rules\n\n- Tabs, never spaces, in `Makefile`s.\n\n## Tests\n\n"
    "1. `make check` first.\n    indented \\n stays\n\n> Never push to *main*."
)
ASKED = "Please port the parser to the new interface."


def codex(rules: str) -> list[list[str]]:
    told = f"# AGENTS.md instructions for /srv/app\n\n<INSTRUCTIONS>\n{rules}\n\n</INSTRUCTIONS>"
    return [[told, "<environment_context>\n  <cwd>/srv/app</cwd>\n</environment_context>"], [ASKED]]


def older_codex(rules: str) -> list[list[str]]:
    return [[f"<user_instructions>\n\n{rules}\n\n</user_instructions>"], [ASKED]]


def claude_code(rules: str) -> list[list[str]]:
    told = (
        "<system-reminder>\nInstructions of the codebase are shown below.\n\n"
        f"Contents of /srv/app/CLAUDE.md (project instructions):\n\n{rules}\n"
        "# currentDate\nToday is a day.\n</system-reminder>"
    )
    return [[told, ASKED]]


def gemini_cli(rules: str) -> list[list[str]]:
    told = (
        "<session_context>\nThis is the Gemini CLI. We are setting up the context.\n"
        f"--- Context from: /srv/app/GEMINI.md ---\n{rules}\n"
        "--- End of Context from: /srv/app/GEMINI.md ---\n</session_context>"
    )
    return [[told, ASKED]]


def qwen(rules: str) -> list[list[str]]:
    told = (
        "<system-reminder>\nThis is the Qwen Code. We are setting up the context.\n"
        f"--- Context from: QWEN.md ---\n{rules}\n--- End of Context from: QWEN.md ---\n"
        "</system-reminder>"
    )
    return [[told], [ASKED]]


def kimi(rules: str) -> list[list[str]]:
    told = (
        "<system-reminder>\nThe applicable instructions are:\n\n"
        f"```````\n<!-- From: /srv/app/AGENTS.md -->\n{rules}\n```````\n</system-reminder>"
    )
    return [[told], [ASKED]]


def hermes(rules: str) -> list[list[str]]:
    told = f"# Project Context\n\nThe following files have been loaded:\n\n## AGENTS.md\n\n{rules}"
    return [[told], [ASKED]]


def opencode(rules: str) -> list[list[str]]:
    told = f"<system-reminder>\nInstructions from: /srv/app/AGENTS.md\n{rules}\n</system-reminder>"
    return [[f"{told}\n\n{ASKED}"]]


Shape: TypeAlias = Callable[[str], list[list[str]]]
SHAPES: list[Shape] = [codex, older_codex, claude_code, gemini_cli, qwen, kimi, hermes, opencode]


def user(texts: list[str]) -> dict[str, object]:
    parts = [{"type": "text", "text": text} for text in texts]
    return {"role": "user", "content": parts if len(parts) > 1 else texts[0]}


def opening(messages: list[list[str]]) -> list[dict[str, object]]:
    said: list[dict[str, object]] = [{"role": "system", "content": "Be careful."}]
    return [*said, *map(user, messages)]


def step(number: int) -> list[dict[str, object]]:
    arguments = json.dumps({"path": f"src/part_{number}.py"})
    function = {"name": "read", "arguments": arguments}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    result = f"line {number} of it " * 40
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
    ]


def turn(number: int) -> list[dict[str, object]]:
    """Return what a run is made of: two more requests of the user among many steps."""
    asked: list[dict[str, object]] = [
        {"role": "assistant", "content": "That is done."},
        {"role": "user", "content": f"Now part {number}."},
    ]
    return [*(asked if number in (30, 60) else ()), *step(number)]


def words(messages: list[dict[str, object]]) -> str:
    """Return every text of a request, one after the other."""
    texts: list[str] = []
    for message in messages:
        content = message.get("content") or ()
        parts = content if isinstance(content, list) else [{"text": content}]
        texts += [str(part["text"]) for part in parts if part and part["text"]]
    return "\n".join(texts)


@pytest.mark.parametrize("shape", SHAPES)
def test_rules_go_out_word_for_word_through_the_gateway_after_every_fold(shape: Shape) -> None:
    async def run() -> list[tuple[int, list[dict[str, object]]]]:
        turns = TurnKeeper(Conversations("memory:"), TreeFile(":memory:"), WINDOW)
        messages, sent = opening(shape(RULES)), []
        for number in range(90):
            messages = [*messages, *turn(number)]
            body: dict[str, object] = {"model": "m", "messages": messages}
            asked = read_request("/v1/chat/completions", {}, body)
            assert asked is not None
            taken = await turns.take(asked, body)
            out = await taken.outgoing() or messages
            assert taken.chat is not None
            sent.append(((await taken.chat.status()).compactions, out))
        return sent

    sent = asyncio.run(run())
    assert sent[-1][0] >= 3
    for (folds, before), (later, after) in pairwise(sent):
        assert words(after).count(RULES) == 1
        # Between two folds nothing in front of what is new changes.
        assert folds != later or after[: len(before)] == before
    record = words(sent[-1][1]).partition("<project_rules>")[0]
    assert "[holdfast summary" in record
    # Nobody said it.
    assert "Tabs" not in record
    assert "make check" not in record


@pytest.mark.parametrize("shape", SHAPES)
def test_rules_stay_word_for_word_in_a_compressed_list(shape: Shape) -> None:
    messages, folds = opening(shape(RULES)), 0
    compressor = holdfast.Compressor(context_length=WINDOW, summarizer=None)
    for number in range(90):
        messages = [*messages, *turn(number)]
        if compressor.should_compress(messages):
            done = compressor.compress(messages)
            folds += done.report.outcome == "folded"
            messages = done.messages
            again = compressor.compress(messages)
            assert again.messages == messages
        assert words(messages).count(RULES) == 1
    assert folds >= 3
    assert words(messages).count("Now part 60.") >= 1
    fitted = holdfast.compress(messages, fit=1_500, summarizer=None)
    assert words(fitted.messages).count(RULES) == 1
    assert holdfast.estimate_tokens(fitted.messages) <= 1_500


def test_the_newest_version_of_a_file_takes_the_place_of_the_older_one() -> None:
    compressor = holdfast.Compressor(context_length=WINDOW, summarizer=None)
    messages, newer = opening(codex(RULES)), RULES.replace("Tabs", "Spaces")
    for number in range(90):
        if number == 40:
            messages = [*messages, user(codex(newer)[0])]
        messages = [*messages, *turn(number)]
        if compressor.should_compress(messages):
            messages = compressor.compress(messages).messages
    assert (words(messages).count(newer), words(messages).count(RULES)) == (1, 0)


def test_rules_that_are_too_long_keep_whole_sections_and_the_rest_is_named() -> None:
    sections = [f"## Chapter {at}\n\n" + f"Rule {at} says this. " * 40 + "\n\n" for at in range(12)]
    messages = opening(codex("".join(sections)))
    messages += [each for number in range(60) for each in turn(number)]
    done = holdfast.compress(messages, context_length=WINDOW, summarizer=None)
    told = words(done.messages)
    kept = [section for section in sections if section.strip() in told]
    assert 0 < len(kept) < len(sections)
    assert kept == sections[: len(kept)]
    said = [each for each in done.report.warnings if "no room for" in each]
    assert "Chapter 11" in said[0]
    assert f"Rule {len(kept)} says this." not in told
    assert holdfast.estimate_tokens(done.messages) <= WINDOW * 0.85


def test_what_a_user_says_of_such_a_file_is_no_rule() -> None:
    said = (
        "Why does it say\n# AGENTS.md instructions for /srv\n<INSTRUCTIONS>\nNo.\n</INSTRUCTIONS>"
    )
    messages = opening([[said]])
    messages += [each for number in range(60) for each in turn(number)]
    done = holdfast.compress(messages, context_length=WINDOW, summarizer=None)
    assert "<project_rules>" not in words(done.messages)
