"""`truncate`: pruning and a tail, with no model in the loop and no summary in the window."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from holdfast.compaction.truncation import truncation
from holdfast.engines.chat import ChatEngine
from holdfast.engines.contracted import Contracted
from holdfast.wire.message_list import read_messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.compaction import Policy
    from holdfast.engines.contract import Wire
    from holdfast.engines.state import Setup

__all__ = ["Truncating", "truncating_engine"]


def truncating_engine(policy: Policy, setup: Setup) -> ChatEngine:
    """Return an engine that truncates; it asks nobody, whoever the setup names."""
    return ChatEngine(policy, replace(setup, chain=None, algorithm=truncation))


class Truncating(Contracted):
    """`truncate` behind the contract.

    A goal that a host names when the conversation begins (`on_session_start(id, goal=...)`)
    survives every pass: where the window no longer says it, the system prompt does.
    """

    def __init__(self, name: str, make: Callable[[], ChatEngine]) -> None:
        """Make the engine that does the work."""
        super().__init__(name, make)
        self._goal = ""

    def on_session_start(self, session_id: str, **details: object) -> None:
        """Learn the goal, if the host names one."""
        super().on_session_start(session_id, **details)
        goal = details.get("goal")
        self._goal = goal.strip() if isinstance(goal, str) else ""

    def compress(
        self,
        messages: Wire,
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        *,
        force: bool = False,
    ) -> Wire:
        """Return the messages made to fit, with the goal among them."""
        shorter = super().compress(messages, current_tokens, focus_topic, force=force)
        if not self._goal or len(shorter) == len(messages):
            return shorter
        return _with_goal(shorter, self._goal)


def _with_goal(messages: Wire, goal: str) -> Wire:
    if any(goal in _words(message.get("content")) for message in messages):
        return messages
    said = f"The goal of this conversation: {goal}"
    first = messages[0] if messages else {}
    text = first.get("content")
    if first.get("role") in ("system", "developer") and isinstance(text, str):
        return [{**first, "content": f"{text}\n\n{said}"}, *messages[1:]]
    # Elsewhere the prompt stands beside the messages, where nobody but their owner can write.
    has_role = read_messages(messages).dialect in ("openai", "responses")
    return [{"role": "system", "content": said}, *messages] if has_role else messages


def _words(content: object) -> str:
    """Return the words of a message's content, whichever of its two forms it has."""
    if isinstance(content, list):
        parts = cast("list[object]", content)
        return "\n".join(
            str(cast("dict[str, object]", part).get("text", ""))
            for part in parts
            if isinstance(part, dict)
        )
    return content if isinstance(content, str) else ""
