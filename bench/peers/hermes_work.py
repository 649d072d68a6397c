"""Puts Hermes to work; runs inside its environment and knows nothing of holdfast.

Its summarizer is refused or replaced by a fixed text, so that no model takes part: what remains is
Hermes' own planning, pruning, fallback record and assembly.

    hermes_work.py speed TRANSCRIPT.json ROUNDS    compaction and per-call work, as JSON
    hermes_work.py redact TEXT ROUNDS              redaction, as JSON
    hermes_work.py windows REQUESTS.jsonl          the window for each request, as JSON lines
    hermes_work.py window REQUEST.json             one window, as it is
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Chat = dict[str, Any]
WINDOW = 200_000
OPENING = 1 / 3
"""The most of a window that the messages before Hermes' record may take."""
FIXED_SUMMARY = "## Goal\nFinish the task.\n\n## Completed Actions\n1. Read the code.\n" * 20


def refused(**_: object) -> None:
    """Stand in for a provider that is not configured."""
    raise RuntimeError("No LLM provider configured")


def answered(**_: object) -> SimpleNamespace:
    """Stand in for a model that answers at once."""
    message = SimpleNamespace(content=FIXED_SUMMARY)
    return SimpleNamespace(choices=[SimpleNamespace(message=message)])


def compressor(call: Callable[..., object]) -> Any:
    module: Any = import_module("agent.context_compressor")
    module.call_llm = call
    return module.ContextCompressor(model="bench", config_context_length=WINDOW, quiet_mode=True)


def with_model() -> Any:
    """Return a compressor that writes for a model, which answers at once."""
    return compressor(answered)


def with_fallback() -> Any:
    """Return a compressor whose summarizer is cooling down: only the fallback record is written."""
    made = compressor(refused)
    made._summary_failure_cooldown_until = time.monotonic() + 3600  # noqa: SLF001 - no public way
    return made


def with_least_work() -> Any:
    """Return a compressor that neither writes for a model nor has a fallback: it only assembles."""
    made = compressor(refused)
    prefixed = made._with_summary_prefix(FIXED_SUMMARY)  # noqa: SLF001 - no public way
    made._generate_summary = lambda *_, **__: prefixed  # noqa: SLF001 - no public way
    return made


MAKERS = {"model": with_model, "fallback": with_fallback, "least": with_least_work}


def fastest(rounds: int, prepare: Callable[[], Callable[[], object]]) -> float:
    """Return CPU seconds of the fastest round; preparing is not timed."""
    best = float("inf")
    for _ in range(rounds):
        work = prepare()
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def speed(path: str, rounds: int) -> dict[str, float]:
    messages: list[Chat] = json.loads(Path(path).read_text("utf-8"))
    estimate = import_module("agent.model_metadata").estimate_request_tokens_rough
    marks = import_module("agent.prompt_caching").apply_anthropic_cache_control
    gate = compressor(refused)

    def pass_with(make: Callable[[], Any]) -> Callable[[], Callable[[], object]]:
        return lambda: partial(make().compress, messages)

    return {
        **{name: fastest(rounds, pass_with(make)) for name, make in MAKERS.items()},
        "per_call": fastest(rounds, lambda: lambda: gate.should_compress(estimate(messages))),
        "cache_marks": fastest(rounds, lambda: lambda: marks(messages)),
    }


def redact(path: str, rounds: int) -> Chat:
    text = Path(path).read_text("utf-8")
    work = import_module("agent.redact").redact_sensitive_text
    pieces = text.split("\f")
    return {"seconds": fastest(rounds, lambda: lambda: [work(piece) for piece in pieces])}


def window(request: Chat) -> str:
    """Return what Hermes' fallback leaves of the messages, within the given characters.

    The record comes first and the newest part of its tail fills the rest. Hermes keeps the opening
    messages whole, whatever they weigh; they stay where they leave most of the room to the others,
    since it would score less with an opening that pushes out everything else.
    """
    messages, room = request["messages"], request["budget"]
    made = with_fallback()
    made.tail_token_budget = max(room // 4, 1)
    after = made.compress(messages)
    key = import_module("agent.context_compressor").COMPRESSED_SUMMARY_METADATA_KEY
    at = next((index for index, message in enumerate(after) if message.get(key)), None)
    if at is None:
        return "\n".join(map(text_of, after))[-room:]
    opening = "\n".join(map(text_of, after[:at]))
    before = f"{opening}\n" if len(opening) <= room * OPENING else ""
    record = f"{before}{text_of(after[at])}"[:room]
    tail = "\n".join(map(text_of, after[at + 1 :]))
    left = room - len(record) - 1
    return f"{record}\n{tail[-left:]}" if left > 0 else record


def text_of(message: Chat) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    said = [str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in parts]
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    return "\n".join([*said, *(f"{call['name']} {call['arguments']}" for call in calls)])


def main() -> None:
    match sys.argv[1:]:
        case ["speed", path, rounds]:
            sys.stdout.write(json.dumps(speed(path, int(rounds))))
        case ["redact", path, rounds]:
            sys.stdout.write(json.dumps(redact(path, int(rounds))))
        case ["windows", path]:
            for line in Path(path).read_text("utf-8").splitlines():
                sys.stdout.write(json.dumps(window(json.loads(line))) + "\n")
        case ["window", path]:
            sys.stdout.write(window(json.loads(Path(path).read_text("utf-8"))))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
