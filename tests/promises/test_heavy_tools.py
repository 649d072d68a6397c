"""What goes out with every request beside its messages counts in what a fold aims at."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import pytest

import holdfast
from holdfast.gateway.tree_file import TreeFile
from holdfast.gateway.turns import TurnKeeper
from holdfast.recognition.request import read_request
from holdfast.wiring.registry import Conversations

WINDOW, STEPS = 32_000, 150
ASKED = "Rule: port 8443 only. Read every module and say what it is for."


def tools_of(tokens: int) -> list[dict[str, object]]:
    """Return schemas of about so many tokens."""
    words = [
        f"Parameter {at} of the tool says which part of the file is meant. " for at in range(4)
    ]
    per = holdfast.estimate_tokens("".join(words) * 50) / (len(words) * 50)
    said = "".join(words[at % 4] for at in range(round(tokens / per)))
    return [{"type": "function", "function": {"name": "read", "description": said}}]


TOOLS = tools_of(19_000)


def opening() -> list[dict[str, object]]:
    prompt = "You are a careful engineer. " * 60
    return [{"role": "system", "content": prompt}, {"role": "user", "content": ASKED}]


def step(number: int) -> list[dict[str, object]]:
    arguments = json.dumps({"path": f"src/module_{number}.py"})
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": "read", "arguments": arguments},
    }
    words = f"line {number} of the file has words " * 60
    return [
        {"role": "assistant", "content": f"Now module {number}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": words},
    ]


@dataclass
class Seen:
    """The requests of a run, and the steps before which a compaction changed the window."""

    tools: list[dict[str, object]]
    folds: list[int]
    heaviest: int = 0
    warnings: tuple[str, ...] = ()

    def sent(self, messages: list[dict[str, object]]) -> int:
        weight = holdfast.estimate_tokens(messages, tools=self.tools)
        self.heaviest = max(self.heaviest, weight)
        assert ASKED in json.dumps(messages[1:])
        return weight


def through_the_gateway(tools: list[dict[str, object]]) -> Seen:
    async def run() -> Seen:
        turns = TurnKeeper(Conversations("memory:"), TreeFile(":memory:"), WINDOW)
        seen, messages = Seen(tools, []), opening()
        for number in range(STEPS):
            messages = [*messages, *step(number)]
            body: dict[str, object] = {"model": "m", "messages": messages, "tools": tools}
            asked = read_request("/v1/chat/completions", {}, body)
            assert asked is not None
            turn = await turns.take(asked, body)
            seen.sent(await turn.outgoing() or messages)
            assert turn.chat is not None
            status = await turn.chat.status()
            seen.folds += [number] * (status.compactions - len(seen.folds))
            seen.warnings = status.warnings
        return seen

    return asyncio.run(run())


def through_a_conversation(tools: list[dict[str, object]]) -> Seen:
    seen = Seen(tools, [])
    chat = holdfast.Conversation.open(store="memory:", context_length=WINDOW)
    chat.add(opening())
    for number in range(STEPS):
        weight = seen.sent(chat.messages())
        status = chat.status()
        seen.folds += [number] * (status.compactions - len(seen.folds))
        seen.warnings = status.warnings
        call, result = step(number)
        usage = {"prompt_tokens": weight, "completion_tokens": 20}
        chat.add_response({"choices": [{"message": call}], "usage": usage})
        chat.add(result)
    return seen


def through_a_compressor(tools: list[dict[str, object]]) -> Seen:
    seen, messages = Seen(tools, []), opening()
    compressor = holdfast.Compressor(context_length=WINDOW)
    for number in range(STEPS):
        tokens = holdfast.estimate_tokens(messages, tools=tools)
        if compressor.should_compress(messages, prompt_tokens=tokens):
            done = compressor.compress(messages, current_tokens=tokens)
            seen.folds += [number] * (done.report.outcome in ("folded", "pruned_only"))
            seen.warnings = done.report.warnings
            messages = done.messages
        compressor.update_from_response(seen.sent(messages))
        messages = [*messages, *step(number)]
    return seen


Surface: TypeAlias = Callable[[list[dict[str, object]]], Seen]
SURFACES: list[Surface] = [through_the_gateway, through_a_conversation, through_a_compressor]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_fold_leaves_room_for_many_steps_beside_heavy_tools(surface: Surface) -> None:
    seen = surface(TOOLS)
    assert 0 < len(seen.folds) <= STEPS // 12
    assert min(later - first for first, later in pairwise(seen.folds)) >= 10
    assert seen.heaviest <= WINDOW - 4_000
    assert not [each for each in seen.warnings if "tools" in each]


@pytest.mark.parametrize("surface", SURFACES)
def test_tools_that_leave_little_room_are_named(surface: Surface) -> None:
    seen = surface(tools_of(24_500))
    assert len(seen.folds) <= STEPS // 4
    assert seen.heaviest <= WINDOW - 4_000
    assert any(
        "tokens of a request" in each and "Use fewer tools" in each for each in seen.warnings
    )


@pytest.mark.parametrize("surface", SURFACES)
def test_tools_that_leave_no_room_do_not_make_every_step_a_compaction(surface: Surface) -> None:
    seen = surface(tools_of(27_500))
    assert len(seen.folds) <= STEPS // 2
    assert seen.heaviest <= WINDOW
    assert any("Use fewer tools" in each for each in seen.warnings)


def test_an_overhead_that_is_stated_needs_no_report_of_usage() -> None:
    weight = holdfast.estimate_tokens([], tools=TOOLS)
    compressor = holdfast.Compressor(context_length=WINDOW, overhead=weight)
    messages, heaviest, folds = opening(), 0, 0
    for number in range(STEPS):
        if compressor.should_compress(messages):
            messages, folds = compressor.compress(messages).messages, folds + 1
        heaviest = max(heaviest, holdfast.estimate_tokens(messages, tools=TOOLS))
        messages = [*messages, *step(number)]
    assert heaviest <= WINDOW - 4_000
    assert 0 < folds <= STEPS // 12
