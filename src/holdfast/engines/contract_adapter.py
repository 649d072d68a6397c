"""Our own engines behind the contract, for hosts that know nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from holdfast.compaction.truncation import truncation
from holdfast.engines.chat import ChatEngine
from holdfast.engines.contract import ContextEngine, take_usage
from holdfast.wire.message_list import read_messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.compaction import Policy
    from holdfast.engines.contract import Wire
    from holdfast.engines.engine import EngineDeps

__all__ = ["ContractAdapter", "Truncating", "truncating_engine"]


class ContractAdapter(ContextEngine):
    """One of our engines, for hosts that know the contract and nothing else."""

    def __init__(self, name: str, make: Callable[[], ChatEngine]) -> None:
        """Make the engine that does the work.

        Args:
            name: The name by which it is chosen.
            make: Returns an engine that has learned nothing; a copy is made with it too.
        """
        self._name = name
        self._make = make
        self._engine = make()
        self._show()

    @property
    def name(self) -> str:
        """Return the name by which the engine is chosen."""
        return self._name

    @property
    def engine(self) -> ChatEngine:
        """Return the engine behind the contract, with its reports and its live state."""
        return self._engine

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Take note of reported usage, and calibrate the estimate by it."""
        take_usage(self, usage)
        self._engine.update_from_response(
            self.last_prompt_tokens, completion_tokens=self.last_completion_tokens
        )

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Say whether a request of this size is due, unless passes gain nothing any more."""
        tokens = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        return self._engine.should_compress(prompt_tokens=tokens)

    def should_compress_preflight(self, messages: Wire) -> bool:
        """Say by estimate whether the messages are due, by tokens, bytes or images."""
        return self._engine.should_compress(messages)

    def has_content_to_compress(self, messages: Wire) -> bool:
        """Say whether a pass that a user asks for would find anything between head and tail."""
        return self._engine.has_content_to_compress(messages)

    def compress(
        self,
        messages: Wire,
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        *,
        force: bool = False,
    ) -> Wire:
        """Return the messages made to fit, or as they were where nothing could be gained."""
        done = self._engine.compress(
            messages, current_tokens=current_tokens, focus=focus_topic, force=force
        )
        if done.report.outcome in ("folded", "pruned_only"):
            self.compression_count += 1
        return done.messages

    def on_session_reset(self) -> None:
        """Forget what was counted and what was learned."""
        super().on_session_reset()
        self._engine.reset()

    def update_model(self, model: str, context_length: int, **endpoint: object) -> None:
        """Go on with another model: every budget is computed for its window."""
        del endpoint
        self._engine.update_model(context_length, model=model)
        self._show()

    def __deepcopy__(self, memo: dict[int, object]) -> ContractAdapter:
        """Return an engine for another conversation: nothing that was learned goes with it."""
        return type(self)(self._name, self._make)

    def _show(self) -> None:
        """Write the figures that a host reads."""
        policy = self._engine.policy
        self.context_length = policy.context_length
        self.threshold_tokens = policy.threshold_tokens
        self.threshold_percent = policy.threshold_tokens / policy.context_length
        shown = {"protect_first_n": policy.protect_first_n, "protect_last_n": policy.protect_last_n}
        vars(self).update(shown)


def truncating_engine(policy: Policy, setup: EngineDeps) -> ChatEngine:
    """Return an engine that truncates; it asks nobody, whoever the setup names."""
    return ChatEngine(policy, replace(setup, fallback=None, algorithm=truncation))


class Truncating(ContractAdapter):
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
        if any(self._goal in _words(message.get("content")) for message in shorter):
            return shorter
        said = f"The goal of this conversation: {self._goal}"
        first = shorter[0] if shorter else {}
        text = first.get("content")
        if first.get("role") in ("system", "developer") and isinstance(text, str):
            return [{**first, "content": f"{text}\n\n{said}"}, *shorter[1:]]
        # Elsewhere the prompt stands beside the messages, where nobody but their owner can write.
        has_role = read_messages(shorter).dialect in ("openai", "responses")
        return [{"role": "system", "content": said}, *shorter] if has_role else shorter


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
