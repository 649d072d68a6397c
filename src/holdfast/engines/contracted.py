"""Our own engines behind the contract: a thin skin over the pure core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.engines.contract import ContextEngine, take_usage
from holdfast.wire.message_list import plain_messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.engines.chat import ChatEngine
    from holdfast.engines.contract import Wire

__all__ = ["Contracted"]


class Contracted(ContextEngine):
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
        """Say whether there is more than the system prompt and one message."""
        roles = [message.get("role") for message in plain_messages(messages)]
        return sum(role not in ("system", "developer") for role in roles) > 1

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

    def __deepcopy__(self, memo: dict[int, object]) -> Contracted:
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
