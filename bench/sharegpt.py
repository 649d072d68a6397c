"""Seeded trajectories of an agent, as the ShareGPT lines that training sets are made of.

The sessions are those of `bench.transcripts`, written as such sets write them: calls and results
stand as tagged JSON in the words of a turn, and results of parallel calls share one.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, cast

from bench.transcripts import transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.transcripts import Chat

TOKENS = 40_000
"""What a trajectory weighs, a turn or two more or less."""
_VERBOSITY = 0.4
_TOKENS_A_MESSAGE = 100
"""Fewer than any of these sessions has on average, so that each is long enough."""
_SPEAKERS = {"system": "system", "user": "human", "assistant": "gpt"}
_DIGITS = b"0123456789"


def trajectories(number: int, count: Callable[[str], int], tokens: int = TOKENS) -> Iterator[bytes]:
    """Yield so many lines, each a trajectory of its own."""
    for seed in range(1, number + 1):
        entry = {
            "conversations": trajectory(seed, count, tokens),
            "timestamp": "2026-01-01T00:00:00",
            "model": "bench",
            "completed": True,
        }
        yield json.dumps(entry, ensure_ascii=False).encode() + b"\n"


def trajectory(seed: int, count: Callable[[str], int], tokens: int = TOKENS) -> list[Chat]:
    """Return turns that together weigh as much as wanted, up to the end of an exchange."""
    turns: list[Chat] = []
    names: dict[str, str] = {}
    weight = 0
    said = transcript(40 + tokens // _TOKENS_A_MESSAGE, seed=seed, verbosity=_VERBOSITY)
    for message in said:
        if message["role"] == "tool":
            value = _response(message, names)
            if turns[-1]["from"] == "tool":
                turns[-1]["value"] = f"{turns[-1]['value']}\n{value}"
            else:
                turns.append({"from": "tool", "value": value})
        elif weight >= tokens and turns[-1]["from"] == "tool":
            break
        else:
            speaker = _SPEAKERS[str(message["role"])]
            value = _calls(message, names) if speaker == "gpt" else str(message["content"])
            turns.append({"from": speaker, "value": value})
        weight += count(value)
    return [*turns, {"from": "gpt", "value": "<think>\n\n</think>\nDone: the tests pass."}]


def varied(lines: Sequence[bytes], size: int, seed: int = 7) -> Iterator[bytes]:
    """Yield at least `size` bytes of lines: the given ones again and again, with other digits.

    Line numbers, times, ids and hashes differ each time, so that whoever remembers words meets
    ever new ones, as in a real set.
    """
    dice = Random(seed)
    written = 0
    while written < size:
        for line in lines:
            digits = bytes(dice.sample(_DIGITS, len(_DIGITS)))
            yield line.translate(bytes.maketrans(_DIGITS, digits))
            written += len(line)
            if written >= size:
                return


def _response(message: Chat, names: dict[str, str]) -> str:
    id_ = str(message["tool_call_id"])
    body = {"tool_call_id": id_, "name": names[id_], "content": message["content"]}
    return f"<tool_response>\n{json.dumps(body, ensure_ascii=False)}\n</tool_response>"


def _calls(message: Chat, names: dict[str, str]) -> str:
    value = f"<think>\n{message['content']}\n</think>\n"
    for call in cast("Sequence[dict[str, dict[str, str]]]", message.get("tool_calls", ())):
        function = call["function"]
        names[str(call["id"])] = function["name"]
        body = {"name": function["name"], "arguments": json.loads(function["arguments"])}
        value += f"<tool_call>\n{json.dumps(body, ensure_ascii=False)}\n</tool_call>"
    return value
