"""Stored conversations for the tests of commands that look at them."""

import json
from pathlib import Path

from holdfast.session import Entry
from holdfast.wiring import Conversation

OUTPUT = "def answer(): return 42\n"


def store_in(home: Path, profile: str = "default") -> Path:
    """Return where a profile's sessions are kept."""
    return home / "profiles" / profile / "holdfast.db"


def talk(chat: Conversation, turns: int, start: int = 0) -> None:
    """Let a user ask about files, each turn with a call and its result."""
    for index in range(start, start + turns):
        call = {
            "id": f"call-{index}",
            "type": "function",
            "function": {"name": "read", "arguments": json.dumps({"path": f"src/m_{index}.py"})},
        }
        chat.add_user(f"Question {index}: what does src/m_{index}.py do on port {8000 + index}?")
        answer = {"role": "assistant", "content": None, "tool_calls": [call]}
        chat.add_response({"choices": [{"message": answer}]})
        chat.add_tool_result(f"call-{index}", OUTPUT * 40)
        chat.add_assistant(f"src/m_{index}.py answers on port {8000 + index}.")


def answered(chat: Conversation, output: str) -> Entry:
    """Add the output of a tool whose call nobody has recorded."""
    return chat.add({"role": "tool", "tool_call_id": "call-9", "content": output})[-1]


def conversation(place: Path, turns: int = 2, **opening: object) -> Conversation:
    """Begin a conversation with a system prompt and some turns; the caller closes it."""
    wanted = {"context_length": 8_000, "model": "gpt-5", "source": "cli", **opening}
    chat = Conversation.open(store=place, active=False, automatic=False, **wanted)  # type: ignore[arg-type]
    chat.set_system("You are careful.")
    talk(chat, turns)
    return chat


def compacted(place: Path, **opening: object) -> str:
    """Store a conversation with one compaction and a turn after it, and return its id."""
    with conversation(place, 16, **opening) as chat:
        assert chat.compress().outcome == "folded"
        talk(chat, 1, 100)
        return chat.id
