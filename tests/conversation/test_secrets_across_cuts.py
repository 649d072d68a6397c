"""No piece of a secret reaches a summarizer or a record, wherever it stands in a long text."""

from __future__ import annotations

import json
import random
import string
from typing import TYPE_CHECKING

import pytest

from holdfast import Compressor, Conversation, Redactor
from holdfast.compaction import PassContext
from holdfast.compaction.prune import middle_out, prune
from holdfast.config.settings import RedactionSettings, Settings
from holdfast.tokens import Scale
from holdfast.transcript import Message, Role, Text, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LETTERS = string.ascii_letters + string.digits
WORDS = "./deploy.sh --env production --region eu-central-1 --verbose --wait and then go on. "
ANSWER = (
    "## Goal\n- Review the modules.\n\n## Completed Actions\n1. Reviewed src/a.py.\n\n"
    "## Active State\n- main\n\n## Relevant Files\n- x.py"
)
PIECE = 12


def vendor_token(dice: random.Random) -> str:
    return "ghp_" + "".join(dice.choices(LETTERS, k=36))


def own_secret(dice: random.Random) -> str:
    return "zebra-" + "".join(dice.choices(string.digits, k=24))


def around(secret: str, offset: int, length: int) -> str:
    filler = WORDS * (length // len(WORDS) + 2)
    return f"{filler[:offset]} {secret} {filler[: length - offset]}"


def pieces(secret: str) -> set[str]:
    return {secret[at : at + PIECE] for at in range(len(secret) - PIECE + 1)}


def leaks(secret: str, place: str, text: str, tool: str) -> list[str]:
    """Run a conversation with the text at one place, and return what got out of the secret."""
    asked: list[str] = []

    def write(prompt: str) -> str:
        asked.append(prompt)
        return ANSWER

    redactor = Redactor(["zebra-[0-9]{24}"])
    with Conversation.open(
        store="memory:", context_length=16_000, summarizer=write, redactor=redactor
    ) as chat:
        for turn in range(30):
            here = turn >= 7 if place in ("user", "assistant") else turn == 4
            chat.add_user(
                text if here and place == "user" else f"Turn {turn}: go on with module {turn}"
            )
            arguments = {"command": text} if here and place == "argument" else {"path": f"f{turn}"}
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"id": f"c{turn}", "type": "function", "function": function}
            chat.add([{"role": "assistant", "content": None, "tool_calls": [call]}])
            whole = f"line of output {turn}\n" * 300
            chat.add_tool_result(f"c{turn}", text if here and place == "result" else whole)
            chat.add_assistant(text if here and place == "assistant" else f"done {turn}")
            chat.messages()
        told = [*asked, *(str(each.summary) for each in chat.compactions())]
        assert asked
    found = pieces(secret)
    return [piece for piece in found if any(piece in each for each in told)]


@pytest.mark.parametrize("make", [vendor_token, own_secret])
@pytest.mark.parametrize(
    ("place", "tool"),
    [(place, "deploy") for place in ("user", "assistant", "argument", "result")]
    + [("argument", "bash")],
)
def test_no_piece_of_a_secret_gets_out_wherever_it_stands(
    place: str,
    tool: str,
    make: Callable[[random.Random], str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    dice = random.Random(f"{place} {tool}")
    # Where texts were once cut first: a topic, a told action, a line, the gist of a turn.
    for offset in (56, 140, 214, dice.randrange(900)):
        secret = make(dice)
        text = around(secret, offset, 900)
        assert leaks(secret, place, text, tool) == [], f"at {offset}"


@pytest.mark.parametrize("make", [vendor_token, own_secret])
def test_no_cut_of_an_output_parts_a_secret(make: Callable[[random.Random], str]) -> None:
    dice, redact = random.Random(7), Redactor(["zebra-[0-9]{24}"]).redact
    room, length = 1_000, 6_000
    for cut in (int(room * 0.65), length - int(room * 0.35)):
        for offset in range(cut - 80, cut + 80):
            secret = make(dice)
            shown = middle_out(around(secret, offset, length), room, redact=redact)
            assert secret in shown or not any(piece in shown for piece in pieces(secret)), offset


def test_an_output_without_secrets_is_cut_where_it_was() -> None:
    text = WORDS * 100
    assert middle_out(text, 1_000, redact=Redactor().redact) == middle_out(text, 1_000)


def test_half_a_secret_in_an_old_argument_is_not_left_in_the_window() -> None:
    dice, redact = random.Random(3), Redactor().redact
    for offset in range(110, 170):
        secret = vendor_token(dice)
        arguments = json.dumps({"content": around(secret, offset, 900)})
        said = Message(Role.ASSISTANT, (ToolCall("1", "note", arguments),))
        (shorter,) = prune((said,), PassContext(Scale(), redact), protected=1).transcript[0].calls
        left = shorter.arguments
        assert len(left) < len(arguments)
        assert secret in left or not any(piece in left for piece in pieces(secret)), offset


@pytest.mark.parametrize("kind", ["conversation", "compressor"])
def test_a_redactor_of_the_caller_applies_beside_the_configured_patterns(kind: str) -> None:
    settings = Settings(redaction=RedactionSettings(extra_patterns=("zebra-[0-9]{8}",)))
    mine = Redactor(["acme-[0-9]{8}"])
    asked: list[str] = []

    def write(prompt: str) -> str:
        asked.append(prompt)
        return ANSWER

    said = [f"Turn {turn}: zebra-74783891 and acme-55667788. " + WORDS * 24 for turn in range(60)]
    if kind == "conversation":
        with Conversation.open(
            store="memory:",
            context_length=16_000,
            summarizer=write,
            redactor=mine,
            settings=settings,
        ) as chat:
            for words in said:
                chat.add_user(words)
                chat.add_assistant("done")
                chat.messages()
    else:
        turns = [
            message
            for words in said
            for message in (
                Message(Role.USER, (Text(words),)),
                Message(Role.ASSISTANT, (Text("done"),)),
            )
        ]
        compressor = Compressor(
            context_length=16_000, summarizer=write, redactor=mine, settings=settings
        )
        compressor.compact(tuple(turns))
    assert asked
    assert not any("74783891" in prompt or "55667788" in prompt for prompt in asked)
