"""A model whose answers are written down in advance, in either provider's format."""

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from holdfast.agent.events import Event
from holdfast.ports import Delta, Finished, Prompt, Spoken
from holdfast.transcript import ToolCall
from holdfast.wire.tool_specs import ToolSpec

Step: TypeAlias = Delta | BaseException
Answer: TypeAlias = list[Step]

USAGE = {"prompt_tokens": 100, "completion_tokens": 10}


def words(*texts: str, finish: str = "stop") -> Answer:
    """Return an answer in words, one delta for each text."""
    message = {"role": "assistant", "content": "".join(texts)}
    return [*map(Spoken, texts), Finished(completion(message, finish))]


def calls(*asked: ToolCall, text: str = "") -> Answer:
    """Return an answer that asks for tools."""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    message["tool_calls"] = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in asked
    ]
    spoken = [Spoken(text)] if text else []
    return [*spoken, Finished(completion(message, "tool_calls"))]


def completion(message: Mapping[str, object], finish: str) -> dict[str, object]:
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return {"id": "c", "object": "chat.completion", "choices": [choice], "usage": USAGE}


def call(id_: str, name: str, **arguments: object) -> ToolCall:
    return ToolCall(id_, name, json.dumps(arguments))


@dataclass
class ScriptedModel:
    """Answers from a list; an exception in an answer is raised where it stands."""

    answers: list[Answer]
    name: str = "m"
    dialect: str = "openai"
    endpoint: str = ""
    context_length: int | None = 8_000
    prompts: list[Prompt] = field(default_factory=list[Prompt])
    closed: int = 0

    def stream(self, prompt: Prompt) -> Generator[Delta]:
        """Give the next answer of the script."""
        self.prompts.append(prompt)
        return self._stream(self.answers.pop(0))

    def _stream(self, answer: Answer) -> Generator[Delta]:
        try:
            for step in answer:
                if isinstance(step, BaseException):
                    raise step
                yield step
        except GeneratorExit:
            self.closed += 1
            raise


@dataclass
class Echo:
    """A tool that says what it was given."""

    name: str = "echo"
    question: str = ""
    effect: Callable[[], object] = lambda: None
    seen: list[dict[str, object]] = field(default_factory=list[dict[str, object]])

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "Says it again.")

    def needs_approval(self, arguments: Mapping[str, object]) -> str:
        del arguments
        return self.question

    def run(self, arguments: Mapping[str, object]) -> str:
        self.seen.append(dict(arguments))
        self.effect()
        return f"echo {dict(arguments)}"


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]
