"""Conversations on which an engine is tried: each has something that engines trip over."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

__all__ = ["SHORT", "TALKS", "Wire", "long_talk"]

Wire: TypeAlias = list[dict[str, Any]]

_PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="


def long_talk(turns: int = 36) -> Wire:
    """Return a conversation of many turns with tools, far over any threshold of a small window."""
    talk: Wire = [_said("system", "You are careful. Never touch the schema.")]
    for number in range(turns):
        talk.append(_said("user", f"Please look into part {number} of the billing service."))
        talk += _exchange(f"call_{number}", 1 + number % 3)
        talk.append(_said("assistant", f"Part {number} is fine. " + "It was read in full. " * 20))
    return [*talk, _said("user", "Now write down what port 8099 is for.")]


def _said(role: str, content: object) -> dict[str, Any]:
    return {"role": role, "content": content}


def _exchange(mark: str, calls: int) -> Wire:
    """Return parallel calls and their results."""
    ids = [f"{mark}_{index}" for index in range(calls)]
    asked = [
        {
            "id": id_,
            "type": "function",
            "function": {"name": "read_file", "arguments": f'{{"path": "src/{id_}.py"}}'},
        }
        for id_ in ids
    ]
    answers = [
        {"role": "tool", "tool_call_id": id_, "content": f"line of {id_}\n" * 60} for id_ in ids
    ]
    return [{"role": "assistant", "content": None, "tool_calls": asked}, *answers]


SHORT: Final[Wire] = [_said("system", "Be brief."), _said("user", "Hello")]

TALKS: Final[dict[str, Wire]] = {
    "a long conversation": long_talk(),
    "a short conversation": SHORT,
    "a conversation without a system prompt": long_talk()[1:],
    "one request and many steps": [
        _said("user", "Build everything."),
        *(message for number in range(60) for message in _exchange(f"step_{number}", 1)),
    ],
    "a call that still waits": [*long_talk(), _exchange("waiting", 1)[0]],
    "pictures": [
        *long_talk()[:-1],
        _said(
            "user",
            [
                {"type": "text", "text": "What is on this picture?"},
                {"type": "image_url", "image_url": {"url": _PIXEL}},
            ],
        ),
    ],
    "texts of every script": [*long_talk(), _said("user", "修复 src/支付.py 🙂 \u202e naïve \x00")],
    "a user who said the same thing twice": [
        *long_talk(12),
        _said("assistant", "Done."),
        *long_talk(12)[1:],
    ],
}
"""By what they show."""
