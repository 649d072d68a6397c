"""What a context engine is to the outside, and our own engines behind that contract.

The contract speaks OpenAI chat messages and plain attributes, so that an engine written for another
agent works here as it is. Whoever hosts one reads the attributes and believes nothing: results are
checked before they are used (`plugin_engine`).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from holdfast.compaction.truncation import truncation
from holdfast.engines.chat import ChatEngine
from holdfast.wire.message_list import read_messages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.compaction import Policy
    from holdfast.engines.engine import EngineDeps

    Wire: TypeAlias = list[dict[str, Any]]
    "OpenAI chat messages."

REQUIRED = ("name", "update_from_response", "should_compress", "compress")
"""What an engine cannot be used without."""
ATTRIBUTES = (
    *("last_prompt_tokens", "last_completion_tokens", "last_total_tokens"),
    *("threshold_tokens", "context_length", "compression_count"),
    *("threshold_percent", "protect_first_n", "protect_last_n"),
)
"""What a host reads."""


class ContextEngine(ABC):
    """Keeps the messages of one conversation within the window of its model.

    A name and three methods must be written; everything else may stay as it is. One engine serves
    one conversation, and is chosen by `context.engine` or by whoever opens the conversation.
    """

    last_prompt_tokens: int = 0
    """What the newest request weighed, as its provider reported."""
    last_completion_tokens: int = 0
    last_total_tokens: int = 0
    threshold_tokens: int = 0
    """The size at which `should_compress` says yes."""
    context_length: int = 0
    """What the model accepts, in tokens."""
    compression_count: int = 0
    """How many passes have changed the messages since the conversation began."""
    threshold_percent: float = 0.75
    """The threshold as a share of the window, from 0 to 1."""
    protect_first_n: int = 3
    """Messages after the system prompt that stay word for word."""
    protect_last_n: int = 6
    """Messages at the end that stay word for word."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name by which the engine is chosen."""

    @abstractmethod
    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Take note of reported usage: `prompt_tokens`, `completion_tokens`, `total_tokens`.

        There may be other keys, and a local server may report zeros.
        """

    @abstractmethod
    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Say whether a request of this size is due; without one, the newest that was reported."""

    @abstractmethod
    def compress(
        self, messages: Wire, current_tokens: int | None = None, focus_topic: str | None = None
    ) -> Wire:
        """Return the messages made to fit; the list that came in stays as it was.

        Args:
            messages: OpenAI chat messages, the system prompt among them.
            current_tokens: What they weigh, where that is known.
            focus_topic: What deserves most of the room, when a user named it.
        """

    def should_compress_preflight(self, messages: Wire) -> bool:
        """Say by a quick estimate whether the messages are due, before a request is made."""
        del messages
        return False

    def has_content_to_compress(self, messages: Wire) -> bool:
        """Say whether a pass that a user asks for would find anything to do."""
        del messages
        return True

    def on_session_start(self, session_id: str, **details: object) -> None:
        """Take note that a conversation begins, or goes on under another id."""
        del session_id, details

    def on_session_end(self, session_id: str, messages: Wire) -> None:
        """Take note that the conversation ends: what is open is closed here."""
        del session_id, messages

    def on_session_reset(self) -> None:
        """Forget what was counted: the user begins anew."""
        self.last_prompt_tokens = 0
        self.last_completion_tokens = 0
        self.last_total_tokens = 0
        self.compression_count = 0

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Return the tools that the model is given: `name`, `description`, `parameters`."""
        return []

    def handle_tool_call(self, name: str, args: dict[str, Any], **details: object) -> str:
        """Answer a call of one of the tools with JSON; what goes wrong is said under `error`."""
        del args, details
        return json.dumps({"error": f"the engine {self.name} has no tool {name!r}"})

    def get_status(self) -> dict[str, Any]:
        """Return the figures for status lines and logs."""
        prompt, window = max(self.last_prompt_tokens, 0), self.context_length
        return {
            "last_prompt_tokens": prompt,
            "threshold_tokens": self.threshold_tokens,
            "context_length": window,
            "usage_percent": min(100.0, 100 * prompt / window) if window else 0.0,
            "compression_count": self.compression_count,
        }

    def update_model(self, model: str, context_length: int, **endpoint: object) -> None:
        """Go on with another model: its window sets the threshold anew."""
        del model, endpoint
        self.context_length = context_length
        self.threshold_tokens = int(context_length * self.threshold_percent)


def missing_names(engine: object) -> tuple[str, ...]:
    """Return what an object lacks to be used as an engine; it need not derive from our class."""
    methods = [each for each in REQUIRED if each != "name"]
    lacking = [each for each in methods if not callable(getattr(engine, each, None))]
    name = getattr(engine, "name", None)
    unnamed = [] if isinstance(name, str) and name.strip() else ["name"]
    return (*unnamed, *lacking)


def take_usage(engine: ContextEngine, usage: Mapping[str, object]) -> None:
    """Write reported usage to the attributes; what was not reported counts as nothing."""
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    engine.last_prompt_tokens = prompt
    engine.last_completion_tokens = completion
    engine.last_total_tokens = _count(usage, "total_tokens") or prompt + completion


def _count(usage: Mapping[str, object], key: str) -> int:
    value = cast("object", usage.get(key))
    return value if isinstance(value, int) else 0


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
        self._show()

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
