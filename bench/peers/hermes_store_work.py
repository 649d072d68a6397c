"""Puts Hermes' SessionDB to work; runs inside its environment and knows nothing of holdfast.

    hermes_store_work.py append SESSIONS.jsonl DATABASE BATCH    writes sessions
    hermes_store_work.py on_top SESSION.json DATABASE            appends one message at a time
    hermes_store_work.py search QUESTIONS.json DATABASE LIMIT    searches, and the discovery tool
    hermes_store_work.py compact TRANSCRIPT.json DATABASE        one compaction with the store

Each prints its figures as JSON: seconds of calls, and bytes on disk after closing.
"""

import json
import os
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
FIXED_SUMMARY = "## Goal\nFinish the task.\n\n## Completed Actions\n1. Read the code.\n" * 20


def opened(path: str) -> Any:
    return import_module("hermes_state").SessionDB(Path(path))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def append_one(database: Any, session: str, message: Chat, at: float) -> None:
    database.append_message(
        session,
        message["role"],
        message["content"],
        tool_calls=message.get("tool_calls"),
        tool_call_id=message.get("tool_call_id"),
        timestamp=at,
    )


def append_many(database: Any, session: str, messages: list[Chat]) -> None:
    """Insert in one transaction, the way its compaction does; there is no public way."""
    insert = database._insert_message_rows  # noqa: SLF001 - no public way
    database._execute_write(lambda connection: insert(connection, session, messages))  # noqa: SLF001 - no public way


def write(database: Any, sitting: Chat, batch: int) -> tuple[list[float], float]:
    """Return the seconds of each call, and those of the processor for all of them."""
    id_, started, messages = sitting["id"], sitting["started"] / 1000, sitting["messages"]
    database.create_session(id_, sitting["source"])
    for number, message in enumerate(messages):
        message["timestamp"] = started + number
    busy = time.process_time()
    if batch == 1:
        spent = [
            timed(partial(append_one, database, id_, message, message["timestamp"]))
            for message in messages
        ]
    else:
        spent = [
            timed(partial(append_many, database, id_, messages[first : first + batch]))
            for first in range(0, len(messages), batch)
        ]
    return spent, time.process_time() - busy


def append(sessions: str, path: str, batch: int) -> Chat:
    database = opened(path)
    spent: list[float] = []
    processor, count = 0.0, 0
    with Path(sessions).open(encoding="utf-8") as lines:
        for line in lines:
            sitting = json.loads(line)
            seconds, busy = write(database, sitting, batch)
            spent += seconds
            processor += busy
            count += len(sitting["messages"])
    database.close()
    size = os.path.getsize(path)
    return {"seconds": spent, "processor": processor, "messages": count, "bytes": size}


def on_top(session: str, path: str) -> Chat:
    database = opened(path)
    spent, processor = write(database, json.loads(Path(session).read_text("utf-8")), 1)
    database.close()
    return {"seconds": spent, "processor": processor}


def search(questions: str, path: str, limit: int) -> Chat:
    """Ask each question once, after some to warm up on; then a discovery for each text."""
    started = time.perf_counter()
    database = opened(path)
    opening = time.perf_counter() - started
    asked: list[Chat] = json.loads(Path(questions).read_text("utf-8"))

    def ask(question: Chat) -> int:
        found = database.search_messages(
            question["text"],
            role_filter=[question["role"]] if question["role"] else None,
            source_filter=[question["source"]] if question["source"] else None,
            limit=limit,
        )
        return len(found)

    discover = import_module("tools.session_search_tool").session_search
    for question in asked[-10:]:
        ask(question)
    given: list[tuple[str, float, int]] = []
    for question in asked:
        started = time.perf_counter()
        found = ask(question)
        given.append((question["kind"], time.perf_counter() - started, found))
    tool = [timed(partial(discover, query=each["text"], db=database)) for each in asked]
    database.close()
    return {"answers": given, "discovery": tool, "open": opening}


def answered(**_: object) -> SimpleNamespace:
    """Stand in for a model that answers at once."""
    message = SimpleNamespace(content=FIXED_SUMMARY)
    return SimpleNamespace(choices=[SimpleNamespace(message=message)])


def compact(transcript: str, path: str) -> Chat:
    """Load a session, compact it, and keep the result under the same id, as Hermes does."""
    messages: list[Chat] = json.loads(Path(transcript).read_text("utf-8"))
    database = opened(path)
    write(database, {"id": "whole", "source": "cli", "started": 0, "messages": messages}, 200)
    module: Any = import_module("agent.context_compressor")
    module.call_llm = answered
    made = module.ContextCompressor(model="bench", config_context_length=WINDOW, quiet_mode=True)
    started = time.perf_counter()
    loaded = database.get_messages_as_conversation("whole")
    load = time.perf_counter() - started
    busy = time.process_time()
    database.archive_and_compact("whole", made.compress(loaded))
    return {"load": load, "compress": time.process_time() - busy}


def main() -> None:
    match sys.argv[1:]:
        case ["append", sessions, path, batch]:
            figures = append(sessions, path, int(batch))
        case ["on_top", session, path]:
            figures = on_top(session, path)
        case ["search", questions, path, limit]:
            figures = search(questions, path, int(limit))
        case ["compact", transcript, path]:
            figures = compact(transcript, path)
        case _:
            sys.exit(__doc__)
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main()
