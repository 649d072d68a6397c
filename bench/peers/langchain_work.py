"""Puts LangChain's `trim_messages` to work; runs inside its environment.

It keeps the newest messages that fit, counting a token for four characters, and may cut the oldest
of them, so that it uses all of the room.

    langchain_work.py speed TRANSCRIPT.json ROUNDS    trimming, as JSON
    langchain_work.py windows REQUESTS.jsonl          the window for each request, as JSON lines
    langchain_work.py window REQUEST.json             one window, as it is
"""

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

Chat = dict[str, Any]


def trimmed(messages: list[Any], room: int) -> list[Any]:
    core = import_module("langchain_core.messages")
    return core.trim_messages(
        messages,
        max_tokens=max(room // 4, 1),
        token_counter=lambda kept: sum(len(text_of(message)) for message in kept) // 4,
        strategy="last",
        allow_partial=True,
    )


def text_of(message: Any) -> str:
    content = message.content
    parts = content if isinstance(content, list) else [{"text": content}]
    said = [str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in parts]
    calls = getattr(message, "tool_calls", None) or ()
    return "\n".join([*said, *(f"{call['name']} {json.dumps(call['args'])}" for call in calls)])


def decoded(messages: list[Chat]) -> list[Any]:
    return import_module("langchain_core.messages").convert_to_messages(messages)


def window(request: Chat) -> str:
    room = request["budget"]
    kept = trimmed(decoded(request["messages"]), room)
    return "\n".join(map(text_of, kept))[-room:]


def speed(path: str, rounds: int) -> Chat:
    messages = decoded(json.loads(Path(path).read_text("utf-8")))
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        trimmed(messages, 80_000)
        best = min(best, time.process_time() - started)
    return {"trim": best}


def main() -> None:
    match sys.argv[1:]:
        case ["speed", path, rounds]:
            sys.stdout.write(json.dumps(speed(path, int(rounds))))
        case ["windows", path]:
            for line in Path(path).read_text("utf-8").splitlines():
                sys.stdout.write(json.dumps(window(json.loads(line))) + "\n")
        case ["window", path]:
            sys.stdout.write(window(json.loads(Path(path).read_text("utf-8"))))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
