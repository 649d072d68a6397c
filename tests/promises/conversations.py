"""Conversations as an agent sends them: OpenAI chat messages, written for these tests."""

import json
from random import Random
from typing import Any, TypeAlias

from holdfast.summary import Record, render

Message: TypeAlias = dict[str, Any]
Messages: TypeAlias = list[Message]

PROMPT = "You are a careful engineer. Work in small steps and say what you did."
WORDS = "the retry policy of billing reads its limit from a file and logs each attempt".split()


def system(text: str = PROMPT) -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def call(id_: str, name: str = "bash", **arguments: object) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": id_, "type": "function", "function": function}


def calls(*requested: Message, text: str | None = None) -> Message:
    return {"role": "assistant", "content": text, "tool_calls": list(requested)}


def result(id_: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def step(id_: str, command: str = "make test", output: str = "12 passed") -> Messages:
    return [calls(call(id_, command=command)), result(id_, output)]


def image(letter: str = "A", size: int = 4_000) -> Message:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{letter * size}"}}


def prose(random: Random, words: int) -> str:
    return " ".join(random.choices(WORDS, k=words))


def turn(number: int, *, steps: int = 2, seed: int = 7) -> Messages:
    """Return one request with a few steps and an answer; the same number is the same turn."""
    random = Random(f"{seed}:{number}")
    messages = [user(f"Request {number}: {prose(random, 12)}.")]
    for at in range(steps):
        path = f"src/part{number}/module{at}.py"
        output = f"{path}: {random.randrange(9, 99)} passed\n{prose(random, 60)}"
        messages += step(f"call_{number}_{at}", f"pytest {path}", output)
    return [*messages, assistant(f"Part {number} is done: {prose(random, 10)}.")]


def session(
    turns: int = 40, *, steps: int = 2, ask: str = "Now rename the class Ledger."
) -> Messages:
    """Return a session of many turns that ends with a request nobody has answered yet."""
    middle = [message for number in range(turns) for message in turn(number, steps=steps)]
    return [system(), *middle, user(ask)]


def record(**sections: tuple[str, ...]) -> str:
    """Return a record as a good summarizer writes it."""
    usual: dict[str, tuple[str, ...]] = {
        "goal": ("Keep the billing service in order.",),
        "actions": ("1. RAN pytest - passed [tool: bash]",),
        "state": ("On branch main.",),
        "decisions": ("Retries stay at three.",),
    }
    return render(Record(**{**usual, **sections}))
