"""Engines as somebody else would write them: one that keeps its promises, and ways to break one."""

# ruff: noqa: ARG002 - engines have the signatures of the contract, whatever they use of them

from typing import Any

from holdfast import ContextEngine
from holdfast.engines.contract import take_usage

Wire = list[dict[str, Any]]


class Tail(ContextEngine):
    """Keeps the system prompt and the newest turn, with a note of what is gone."""

    name = "tail"  # type: ignore[assignment]  # a plain attribute is how most plug-ins write it
    threshold_percent = 0.5

    def __init__(self) -> None:
        self.seen: list[tuple[str, object]] = []

    def update_from_response(self, usage: dict[str, Any]) -> None:
        take_usage(self, usage)

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        tokens = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        return tokens >= self.threshold_tokens > 0

    def compress(
        self, messages: Wire, current_tokens: int | None = None, focus_topic: str | None = None
    ) -> Wire:
        self.seen.append(("compress", focus_topic))
        starts = [at for at, each in enumerate(messages) if each["role"] == "user"]
        head = [each for each in messages[:1] if each["role"] == "system"]
        if len(starts) < 3:
            return shortened(messages)
        self.compression_count += 1
        note = {"role": "user", "content": "[notes] Earlier turns are gone."}
        kept = messages[starts[-1] :]
        return [*head, note, *kept] if len(messages) > len(kept) + 2 else messages

    def on_session_start(self, session_id: str, **details: object) -> None:
        self.seen.append(("start", details.get("old_session_id", "")))

    def on_session_end(self, session_id: str, messages: Wire) -> None:
        self.seen.append(("end", len(messages)))

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return [
            {
                "name": "tail_grep",
                "description": "Finds what is gone.",
                "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
            }
        ]

    def handle_tool_call(self, name: str, args: dict[str, Any], **details: object) -> str:
        if name != "tail_grep":
            return super().handle_tool_call(name, args)
        return f'{{"found": {len(args)}}}'


def shortened(messages: Wire) -> Wire:
    """Return the messages with long outputs of tools cut, as the simplest engines do."""
    return [
        {**each, "content": each["content"][:60]} if each["role"] == "tool" else each
        for each in messages
    ]
